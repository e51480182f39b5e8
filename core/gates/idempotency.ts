// Gate 1: an order is decided once. The shell attaches the first decision to the answer; here only the finding is judged.

import type { Gate } from "../state/gate.ts";
import { seconds } from "../state/wording.ts";

export const idempotency: Gate = {
  name: "idempotency",
  question: "Is this the first order under its key within 5 minutes?",
  phase: "key",
  inputs: [],
  decide(_order, view, _at, notes) {
    if (view.keySeen === "no") {
      notes.word("key", "new");
      return undefined;
    }
    notes.word(
      "key",
      view.keySeen === "same order" ? "seen with the same order" : "seen with another order",
      view.keyAgeMs,
    );
    const ago = seconds(view.keyAgeMs);
    return view.keySeen === "same order"
      ? { code: "DUPLICATE_KEY", reason: `The same order was asked ${ago} ago under this idempotency key.` }
      : { code: "KEY_REUSED", reason: `The idempotency key was used ${ago} ago for another order.` };
  },
};
