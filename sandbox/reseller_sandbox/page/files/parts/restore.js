// Ways to restore an earlier state of the world. The previous state becomes a branch, so each of them can be undone.

import { Action } from "./action.js";
import { read } from "./address.js";
import { html } from "./html.js";

/** A button that restores a state and leads to the present. */
export const Restore = (action, { address }) => html`<${Action} leads=${() => ({ ...read(), at: "" })}
  says=${({ branch }) => (branch ? `Restored. The previous state is branch ${branch.name}.` : "The world is reset.")}
  undo=${({ branch }) => branch && { operation: "branches.switch", args: { name: branch.name }, leads: () => ({ ...address, at: "" }),
    says: () => "The world is as it was before." }} ...${action} />`;
