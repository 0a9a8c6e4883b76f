// tables that scroll can be reached with keys; the theme wraps them when the page is shown
new MutationObserver(() => {
  for (const part of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) part.tabIndex = 0;
}).observe(document.documentElement, { childList: true, subtree: true });
