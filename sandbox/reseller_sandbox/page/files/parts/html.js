// Preact and htm. Text never becomes markup, so that a name or a body cannot inject HTML.

import htm from "../vendor/htm.js";
import { Component, h, render } from "../vendor/preact.js";

export { Component, render };

/** Return the elements of a template. The second argument of a component is its context: the address of its view. */
export const html = htm.bind(h);
