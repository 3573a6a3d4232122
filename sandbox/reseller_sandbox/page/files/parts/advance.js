import { go, read } from "./address.js";
import { moved } from "./words.js";

/** The properties of an action that advances the clock: its notice leads to the events of the advance. */
export const advance = { operation: "clock.advance", says: moved,
  shows: ({ total }) => total > 0 && ["Show the events", () => go({ view: "journal", world: read().world, kind: "time" })] };
