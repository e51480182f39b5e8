// One event in, the next state and what is to be done out. Nothing here waits, calls or reads a clock: the desk at any moment is a fold of its events.
import { millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { KeyEvent } from "../keys.ts";
import { dialogKey } from "./dialog-keys.ts";
import { type Event, just, type ListEvent, type Step } from "./events.ts";
import { browseKey, typingKey } from "./navigate.ts";
import type { State } from "./state.ts";

/** As shells count Ctrl-C. */
const interruptedExit = 130;

export function reduce(state: State, event: Event): Step {
  switch (event.kind) {
    case "input":
      return pressed(state, event.input);
    case "list":
      return just({ ...state, data: withList(state.data, event) });
    case "list failed":
      return just({
        ...state,
        data: { ...state.data, failures: { ...state.data.failures, [event.name]: event.detail } },
      });
    case "heard":
      return just({
        ...state,
        data: stillCurrent(state.data, event),
        link: { mode: event.mode, heardAt: event.at, failingSince: undefined, failure: undefined },
      });
    case "unreachable":
      return just({
        ...state,
        link: { ...state.link, failingSince: state.link.failingSince ?? event.at, failure: event.detail },
      });
    case "login over":
      return just({ ...state, loginOver: event.detail, unlocked: undefined });
    case "tick":
      return just(ticked(state, event.now));
    case "resized":
      return just({ ...state, size: { columns: event.columns, rows: event.rows } });
    case "detail":
      return just(detailed(state, event));
    case "outcome":
      return just(concluded(state, event));
  }
}

function pressed(state: State, input: KeyEvent): Step {
  // Ctrl-C leaves from everywhere: what was not sent is not sent.
  if (input.kind === "key" && input.key === "interrupt") return just({ ...state, leaving: interruptedExit });
  if (input.kind === "key" && input.key === "suspend") return { state, effects: [{ kind: "suspend" }] };
  if (state.dialog !== undefined) return dialogKey(state, state.dialog, input);
  if (state.typing !== undefined) return just(typingKey(state, state.typing, input));
  // A paste is no key: none of its letters may do anything.
  if (input.kind === "paste") return just({ ...state, message: { text: "A paste is no key here.", tone: "plain" } });
  return browseKey({ ...state, message: undefined }, input);
}

function withList(data: State["data"], { name, value, at }: ListEvent): State["data"] {
  const { [name]: _gone, ...failures } = data.failures;
  return { held: { ...data.held, [name]: { value, at } }, failures };
}

/** What no event touched is as new as the stream. */
function stillCurrent(data: State["data"], { current = [], at }: Event & { kind: "heard" }): State["data"] {
  if (current.length === 0) return data;
  const held = current.flatMap((name) => {
    const known = data.held[name];
    return known === undefined ? [] : [[name, { ...known, at }]];
  });
  return { ...data, held: { ...data.held, ...Object.fromEntries(held) } };
}

function ticked(state: State, now: State["now"]): State {
  const { unlocked } = state;
  if (unlocked === undefined || millisecondsBetween(now, unlocked.until) > 0) return { ...state, now };
  return { ...state, now, unlocked: undefined, message: { text: "Locked again: READ-ONLY.", tone: "plain" } };
}

function detailed(state: State, { asked, lines, at }: Event & { kind: "detail" }): State {
  if (state.detail?.asked !== asked) return state;
  return { ...state, detail: { ...state.detail, lines, at } };
}

function concluded(state: State, { asked, lines, tone, done }: Event & { kind: "outcome" }): State {
  const { dialog } = state;
  if (dialog?.asked !== asked || dialog.phase === "asking") return state;
  return { ...state, dialog: { ...dialog, outcome: lines, tone, phase: done ? "outcome" : "sending" } };
}
