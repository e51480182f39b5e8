// What each acting key asks before it acts. Stopping is easy: it needs no unlocking. Everything else needs `u` with a reason first.

import type { Choice } from "../../words/act.ts";
import { type FieldGroup, haltGroups, requestGroup } from "../../words/fields.ts";
import { byStrictness, scopeIdOf, scopeOf } from "../../words/halt-words.ts";
import { type Data, type Halt, listOf } from "../lists.ts";
import type { Act, Dialog, Step } from "./dialog.ts";
import { currentRow } from "./rows.ts";
import type { State } from "./state.ts";

type ActKey = "H" | "R" | "c" | "C" | "F" | "u";

export function openDialog(state: State, key: ActKey): State {
  if (state.loginOver !== undefined) {
    return { ...state, message: { text: "Nobody is logged in: nothing can be done from here.", tone: "bad" } };
  }
  if (key !== "H" && key !== "u" && state.unlocked === undefined) {
    return { ...state, message: { text: `READ-ONLY: press u and say why, then ${key} again.`, tone: "bad" } };
  }
  const dialog = builders[key](state);
  if (typeof dialog === "string") return { ...state, message: { text: dialog, tone: "plain" } };
  return { ...state, dialog };
}

/** A sentence says why there is nothing to ask. */
const builders: Readonly<Record<ActKey, (state: State) => Dialog | string>> = {
  u: () =>
    dialogOf(
      "unlock",
      "UNLOCK",
      ["For 5 minutes R, c, C and F act. Your reason is offered as theirs."],
      [reasonStep("Why do you unlock", "")],
    ),
  H: (state) =>
    dialogOf(
      "halt",
      "HALT",
      ["No new risk, and its open orders are cancelled. Positions stay.", "Only people can lift it again."],
      [chooseStep("What to halt", haltChoices(state.data), 0), optionalReason(), wordStep("HALT")],
    ),
  R: resumeDialog,
  c: cosignDialog,
  C: (state) =>
    dialogOf(
      "cancel",
      "CANCEL EVERY OPEN ORDER",
      ["Positions stay; what has filled stays filled."],
      [chooseStep("Whose orders", fundChoices(state.data, "every fund"), 0), ownReason(state), wordStep("CANCEL")],
    ),
  F: (state) =>
    dialogOf(
      "flatten",
      "FLATTEN PAPER",
      [
        "Open orders are cancelled, and every position is sold or bought back at the market.",
        "Live funds are never touched.",
      ],
      [
        chooseStep("Which paper funds", fundChoices(state.data, "every paper fund", "PAPER"), 0),
        ownReason(state),
        wordStep("FLATTEN"),
      ],
    ),
};

function dialogOf(
  act: Act,
  title: string,
  facts: readonly string[],
  steps: readonly Step[],
  about: readonly FieldGroup[] = [],
): Dialog {
  return {
    act,
    title,
    facts,
    about,
    top: 0,
    steps,
    at: 0,
    phase: "asking",
    asked: 0,
    outcome: [],
    tone: "plain",
    complaint: undefined,
  };
}

function chooseStep(label: string, choices: readonly Choice[], index: number): Step {
  return { kind: "choose", label, choices, index };
}

function reasonStep(label: string, value: string): Step {
  return { kind: "reason", label, value, required: true };
}

function optionalReason(): Step {
  return { kind: "reason", label: "Why (Enter alone: manual)", value: "", required: false };
}

function ownReason({ unlocked }: State): Step {
  return reasonStep("Why", unlocked?.reason ?? "");
}

function wordStep(word: string): Step {
  return { kind: "word", word, value: "" };
}

function modes(data: Data): string {
  return [...new Set(listOf(data, "funds").map(({ mode }) => mode))].join(" and ") || "mode not known";
}

/** The first entry is everything. */
function haltChoices(data: Data): readonly Choice[] {
  const funds = listOf(data, "funds").map(({ fund_id, mode }) => ({
    label: `fund ${fund_id} (${mode})`,
    id: fund_id,
  }));
  const strategies = listOf(data, "strategies").map(({ strategy_id, fund_id }) => ({
    label: `strategy ${strategy_id} of ${fund_id}`,
    id: strategy_id,
  }));
  return [{ label: `EVERYTHING: the whole firm (${modes(data)})`, id: "" }, ...funds, ...strategies];
}

function fundChoices(data: Data, everything: string, only?: "PAPER"): readonly Choice[] {
  const funds = listOf(data, "funds").filter(({ mode }) => only === undefined || mode === only);
  return [
    { label: `EVERYTHING: ${everything} (${only ?? modes(data)})`, id: "" },
    ...funds.map(({ fund_id, mode }) => ({ label: `fund ${fund_id} (${mode})`, id: fund_id })),
  ];
}

function resumeDialog(state: State): Dialog | string {
  const halts = state.data.held.halts?.value.halts ?? [];
  if (halts.length === 0) return "Nothing is halted: there is nothing to resume.";
  const scoped = new Map<string, Halt[]>();
  for (const halt of halts) {
    const id = scopeIdOf(halt);
    if (id !== "") scoped.set(id, [...(scoped.get(id) ?? []), halt]);
  }
  const all: Choice = {
    label: `EVERYTHING: all ${halts.length} ${halts.length === 1 ? "halt" : "halts"}; needs your code, and another person signs`,
    id: "",
    haltIds: idsOf(halts),
    needsCode: true,
  };
  const choices = [
    all,
    ...[...scoped].map(
      ([id, found]): Choice => ({
        label: `${found[0] === undefined ? id : scopeOf(found[0])}: its own halts, none above it`,
        id,
        haltIds: idsOf(found),
      }),
    ),
  ];
  const target = currentRow(state)?.target;
  const wanted = target?.kind === "halt" ? choices.findIndex(({ id }) => id === target.scope) : 0;
  const { restarts } = state.data.held.halts?.value ?? { restarts: [] };
  const facts = restarts.length === 0 ? [] : [`May trade again when everything is lifted: ${restarts.join(", ")}.`];
  const steps: readonly Step[] = [
    chooseStep("What to resume", choices, Math.max(0, wanted)),
    ownReason(state),
    wordStep("RESUME"),
    { kind: "code", value: "" },
  ];
  return dialogOf("resume", "RESUME", facts, steps, haltGroups(byStrictness(halts), state.now));
}

function idsOf(halts: readonly Halt[]): readonly string[] {
  return halts.flatMap(({ halt_id }) => (halt_id === undefined ? [] : [halt_id]));
}

function cosignDialog(state: State): Dialog | string {
  const status = state.data.held.halts?.value;
  if (status?.request_id === undefined) return "No request to resume waits for a signature.";
  const dialog = dialogOf(
    "cosign",
    "CO-SIGN THE REQUEST TO RESUME EVERYTHING",
    [
      `With your signature ${status.halts.length === 1 ? "the only halt is" : `all ${status.halts.length} halts are`} lifted.`,
    ],
    [wordStep("RESUME"), { kind: "code", value: "" }],
    [requestGroup(status, state.now), ...haltGroups(byStrictness(status.halts), state.now)],
  );
  return { ...dialog, requestId: status.request_id };
}
