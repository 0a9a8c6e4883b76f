// tables and code that scroll sideways can be reached with keys; the theme wraps tables when the page is shown
const reach = () => {
  for (const part of document.querySelectorAll(".md-typeset__scrollwrap, pre > code")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
  }
};
new MutationObserver(reach).observe(document.documentElement, { childList: true, subtree: true });
addEventListener("resize", reach);
addEventListener("change", reach); // of tabs
