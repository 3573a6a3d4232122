// Every limit of the page: rows, records, milliseconds.

/** Rows of the journal: loaded at once, and kept in the list. The latest events of each kind between them. */
export const [JOURNAL_PAGE, JOURNAL_ROWS, JOURNAL_EVENTS] = [300, 2000, 500];

/** Rows of a page of names and of money. */
export const [NAMES_PAGE, MONEY_PAGE] = [50, 300];

/** The movements that a chart of a balance draws. */
export const CHARTED = 10_000;

/** Requests that the history draws around its position, per line. */
export const DRAWN = 80;

/** Records that a comparison lists. */
export const COMPARED = 100;

/** Past events, due events and movements of one name. */
export const OF_NAME = 100;

/** Events that the preview of a clock advance lists. */
export const PREVIEWED = 200;

/** Requests that are searched for assumptions, and for names that clients have checked. */
export const SEARCHED = 100;

/** Names that a field suggests. */
export const SUGGESTED = 20;

/** Milliseconds: a batch of events, a view's pause between updates, its longest pause, a look at other worlds. */
export const [BATCH, PAUSE, LONGEST_PAUSE, WATCH] = [100, 300, 2000, 3000];

/** Events a second that the stream sends. More are counted, and then loaded at once. */
export const PER_SECOND = 100;

/** Seconds between attempts to reach the server again. */
export const RETRIES = [1, 2, 4, 8, 15, 30];

/** Milliseconds for which a notice stays. */
export const NOTICE = 6000;

/** Levels, and entries of a level, that a JSON value shows unfolded. */
export const [JSON_LEVELS, JSON_ENTRIES] = [6, 60];
