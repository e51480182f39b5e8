// The last line: which keys do something here, the most important first, as many as fit.

import { widthOf } from "../../words/wrapped.ts";
import type { State } from "../model/state.ts";
import { type Line, span } from "./text.ts";

export function keysLine(state: State, width: number): Line {
  let text = "";
  for (const hint of hintsOf(state)) {
    const longer = text === "" ? hint : `${text}  ${hint}`;
    if (widthOf(longer) > width) break;
    text = longer;
  }
  return [span(text, "dim")];
}

function hintsOf({ dialog, help, detail, screen, unlocked, typing }: State): readonly string[] {
  if (dialog?.phase === "asking") return ["Enter goes on", "Esc sends nothing", "arrows choose", "Ctrl-C quits"];
  if (dialog?.phase === "sending") return ["Sent: waiting for what the server proves", "Ctrl-C quits"];
  if (dialog !== undefined) return ["Enter or Esc closes", "Ctrl-C quits"];
  if (typing !== undefined) return ["Enter takes the filter", "Esc leaves it"];
  if (help) return ["Esc back", "q quit"];
  if (detail !== undefined)
    return ["Esc back", "arrows scroll", "Enter reads again", "y command", "p o f r h", "q quit"];
  const lock = unlocked === undefined ? "u unlock" : "u lock";
  if (screen === "halts") {
    return ["H halt", "R resume", "c co-sign", "C cancel-all", "F flatten", lock, "? help", "q quit", "p o f r"];
  }
  return ["p o f r h", "Enter detail", "/ filter", "space freeze", lock, "? help", "q quit", "s sort", "y command"];
}
