"""The closed word lists of the construction: pronouns, connectives, titles, stopwords."""

from typing import Literal

Gender = Literal["male", "female"]

PRONOUNS = (
    *("he", "she", "it", "they", "him", "her", "them", "their"),
    *("hers", "his", "these", "those"),
)
"""None may come before the connective, and one must follow it (released code)."""

MASCULINE = {"he": "she", "him": "her", "his": "her", "himself": "herself"}
FEMININE = {"she": "he", "her": "him", "hers": "his", "herself": "himself"}
"""Forms that tell a gender -> a form of the other one."""

TARGETS: dict[str, Gender] = {
    **dict.fromkeys(("he", "him", "his"), "male"),
    **dict.fromkeys(("she", "her", "hers"), "female"),
}
"""A pronoun that can be resolved by the gender of a name -> that gender."""

CONNECTIVES = (
    *("or", "since", "but", "because", "although", "even though", "though", "after", "so"),
    *("if", "whether", "until", "where", "when"),
)
"""Connectives besides comma and semicolon (3.1.2, footnote 3; the list is the released code's)."""

_MASCULINE_TITLES = """
    Mr:Ms Mr.:Ms. Sir:Lady Lord:Lady King:Queen Prince:Princess Brother:Sister Father:Mother
    Uncle:Aunt Grandpa:Grandma Baron:Baroness Duke:Duchess Count:Countess Emperor:Empress
"""
_FEMININE_TITLES = """
    Mrs:Mr Mrs.:Mr. Ms:Mr Ms.:Mr. Miss:Mr Lady:Lord Queen:King Princess:Prince Sister:Brother
    Mother:Father Aunt:Uncle Grandma:Grandpa Baroness:Baron Duchess:Duke Countess:Count
    Empress:Emperor
"""
_TITLE_PAIRS: tuple[tuple[Gender, str], ...] = (
    *(("male", pair) for pair in _MASCULINE_TITLES.split()),
    *(("female", pair) for pair in _FEMININE_TITLES.split()),
)
TITLES = {pair.partition(":")[0]: gender for gender, pair in _TITLE_PAIRS}
"""Titles that tell a gender -> that gender."""

OTHER_TITLES = dict(pair.split(":") for _, pair in _TITLE_PAIRS)
"""A title that tells a gender -> the same of the other gender."""

_MASCULINE_NOUNS = """
    brother father dad daddy son husband hubby uncle nephew grandfather grandpa granddad grandson
    stepfather stepdad stepson stepbrother godfather godson boyfriend fiance widower man boy guy
    gentleman lad bloke dude king prince duke lord baron emperor monk friar priest bachelor groom
    bridegroom landlord headmaster schoolmaster nobleman patriarch waiter salesman policeman fireman
    businessman chairman spokesman congressman councilman mailman postman milkman fisherman
    clergyman craftsman cameraman handyman doorman watchman foreman serviceman frontman anchorman
    sportsman statesman horseman huntsman stuntman cowboy schoolboy busboy houseboy playboy
"""
_FEMININE_NOUNS = """
    sister mother mom mum mommy mummy daughter wife aunt auntie niece grandmother grandma granny
    granddaughter stepmother stepmom stepdaughter stepsister godmother goddaughter girlfriend
    fiancee widow woman girl lady actress queen princess duchess baroness empress nun bride
    landlady headmistress schoolmistress mistress noblewoman matriarch waitress stewardess hostess
    heroine heiress governess seamstress ballerina maid housemaid housewife lass goddess priestess
    saleswoman policewoman businesswoman chairwoman spokeswoman congresswoman councilwoman
    craftswoman servicewoman frontwoman anchorwoman sportswoman stateswoman horsewoman cowgirl
    schoolgirl spinster
"""
MASCULINE_NOUNS = frozenset(_MASCULINE_NOUNS.split())
FEMININE_NOUNS = frozenset(_FEMININE_NOUNS.split())
"""Nouns that tell the gender of the person whom they name, as in *my aunt Ann*."""

GENDERED_ADJECTIVES: dict[Gender, frozenset[str]] = {
    "male": frozenset({"male", "bearded", "moustached", "mustached"}),
    "female": frozenset({"female", "pregnant"}),
}
GENDERED_VERBS: dict[Gender, frozenset[str]] = {
    "male": frozenset({"fathers", "fathered"}),
    "female": frozenset(
        f"{verb} {what}"
        for what, verbs in (("birth", "give gives gave given giving"), ("pregnant", "get gets got"))
        for verb in verbs.split()
    ),
}
"""Other words that are said of one gender."""


def plural(noun: str) -> str:
    """Return the plural of one of the nouns above.

    >>> [plural(noun) for noun in ("waitress", "policeman", "wife", "lady", "boy")]
    ['waitresses', 'policemen', 'wives', 'ladies', 'boys']
    """
    if noun.endswith("man"):
        return f"{noun[:-2]}en"
    if noun.endswith("wife"):
        return f"{noun[:-2]}ves"
    if noun.endswith("y") and not noun.endswith("oy"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch")) else f"{noun}s"


GENDERED_NOUNS = MASCULINE_NOUNS | FEMININE_NOUNS | {"actor"}

ADDRESSES: dict[Gender, frozenset[str]] = {
    "male": frozenset({"sir", "mister"}),
    "female": frozenset({"ma'am", "madam", "madame"}),
}
"""Forms of address that tell a gender."""

_NEUTRAL_TITLES = """
    Dr Dr. Doctor Prof Prof. Professor President Senator Governor Judge Justice Captain Capt
    Capt. Major Colonel Col Col. General Gen Gen. Lieutenant Lt Lt. Sergeant Sgt Sgt. Officer
    Detective Inspector Agent Coach Chief Pope Saint St St. Rev Rev. Reverend Bishop Chancellor
    Minister Mayor Secretary Ambassador Admiral Commander Commissioner
"""
NEUTRAL_TITLES = frozenset(_NEUTRAL_TITLES.split())

_STOPWORDS = """
    a about above across after again against ago all almost alone along already also although
    always am among an and another any anybody anyone anything anywhere are around as ask asked at
    away back be became because become been before began behind being below beneath beside besides
    between beyond both but by came can cannot come could did do does doing done down during each
    either else enough even ever every everybody everyone everything everywhere except far few
    first for former from further gave get gets getting give given gives go goes going gone got had
    has have having he her here hers herself him himself his how however i if in indeed inside
    instead into is it its itself just keep kept knew know known last later least less let like
    likely made make makes making many may maybe me meanwhile might mine more most much must my
    myself near nearly neither never nevertheless next no nobody none nor not nothing now nowhere
    of off often on once one only onto or other others otherwise our ours ourselves out outside
    over own per perhaps put quite rather really said same saw say says see seem seemed seems seen
    several shall she should since so some somebody someone something sometimes somewhere soon
    still such take taken takes tell tells than that the their theirs them themselves then there
    therefore these they think thinks this those though thought through throughout thus to today
    together told too took toward towards tried tries try under unless until unto up upon us use
    used uses very want wanted wants was we well went were what whatever when whenever where
    whereas wherever whether which while who whoever whole whom whose why will with within without
    would yet you your yours yourself yourselves
"""
STOPWORDS = frozenset(_STOPWORDS.split())
"""Words that are no content word (a list of ours: the paper does not give its own)."""

_NOT_NAMES = """
    The This That These Those There Then When Where While After Before Since Because Although
    Though But And Or If So Until Whether Even Once As At In On For From With Without Both Either
    Neither Every Each Some Any All No Not Now Later Yesterday Today Tomorrow Monday Tuesday
    Wednesday Thursday Friday Saturday Sunday January February March April May June July August
    September October November December Christmas Easter English French German American British
    I We You It He She They His Her Their Its My Our Your Mr Mrs Ms Dr God EMAIL
"""
NOT_NAMES = frozenset(_NOT_NAMES.split())
"""Words with a capital that are no part of a name where a sentence begins, or anywhere."""

_BEGINNINGS = """
    Age Ally Anti Ate Beat Bee Beer Bent Bet Bore Boy Brain Brand Carry Chance Constant Core Deep
    Desire Din Dine Dip Donate Due Ear Earnest Edit Essence Fair File Fine Five Flip Fortune Free
    Gay Guy Harm Hay Hero Hew Hope Ice Ideal Impress Innocent Jerk Job Joke Jolly Key Kick Kinda
    Lame Lean Liberty Lie Lies Line Lone Long Lot Love Loyal Mall Man Marry Mate Mentor Merge Mine
    Nail Nest Nice Night Nine Noble Novel Odd Okay Oral Patience Peer Pile Pit Pole Precious Price
    Prune Raid Rail Rain Rinse Roar Royal Run Rush Sad Sake Save Shady Sincere Skip Slave Slim
    Spring Stale Stole Stone Summer Sunshine Ties Till Tiny Trees Urban Vice Vital Wail Wander Way
    Win Won Young
"""
BEGINNINGS = frozenset(_BEGINNINGS.split())
"""Words that begin a sentence more often than the name does which they are, too."""

_PLACES = """
    Africa America Angeles Argentina Armenia Asia Basra Cleveland Columbus Denver Doha Geneva Haifa
    Houston India Indiana Iran Israel Kashmir Kent Lima Manila Milan Odessa Riga Riyadh Syria Tulsa
    Valencia Vienna York Paris London Florence Sydney Dallas Savannah Orlando Santiago Verona Roma
    Bratislava Nice Lille Phoenix Dayton Aspen Reno Trenton Raleigh Salem Montgomery Rio Salvador
    Asuncion Medina Kenya Dakota Montana France Aden Lourdes Haifa
"""
PLACES = frozenset(_PLACES.split())
"""Places whose name alone is more often that of the place than of a person."""

PARTICLES = ("van", "von", "de", "der", "den", "del", "della", "di", "da", "du", "dos", "la", "bin")
"""Words without a capital inside a name, as in *Vincent van Gogh*."""
