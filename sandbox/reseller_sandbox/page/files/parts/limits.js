// Every limit of the page.

// Rows of the journal that are loaded at once, and that the list keeps. Events of each kind between them.
export const [JOURNAL_PAGE, JOURNAL_ROWS, JOURNAL_EVENTS] = [300, 2000, 500];
export const [NAMES_PAGE, MONEY_PAGE] = [50, 300];

// Movements in a chart, requests around the position in the history, records of a comparison.
export const [CHARTED, DRAWN, COMPARED] = [10_000, 80, 100];

// Events and movements of one name, events in the preview of an advance, names that a field suggests.
export const [OF_NAME, PREVIEWED, SUGGESTED] = [100, 200, 20];

// Requests that are searched for assumptions, and for names that clients have checked.
export const SEARCHED = 100;

// Milliseconds after the last key until a search begins.
export const TYPED = 250;

// Milliseconds: a batch of events, a view's pause between updates and its longest, a look at other worlds, a notice.
export const [BATCH, PAUSE, LONGEST_PAUSE, WATCH, NOTICE] = [100, 300, 2000, 3000, 6000];

// Events a second in the stream. More are only counted, and loaded at once.
export const PER_SECOND = 100;

// Seconds between attempts to reach the server again.
export const RETRIES = [1, 2, 4, 8, 15, 30];

// Levels, and entries of a level, that a JSON value shows unfolded.
export const [JSON_LEVELS, JSON_ENTRIES] = [6, 60];
