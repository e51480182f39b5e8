// The part of docs/authority.md about what loosens: which operations, which fields, what that takes, and what becomes of it in a halt.
import { changesState, type Operation, operations } from "../../contracts/src/authority.ts";
import { type FieldLoosens, type KindWord, referenceWords } from "../../contracts/src/records/reference-fields.ts";
import { envelopeWords } from "../../testkit/authority/envelope-words.ts";
import { looseningWords } from "../../testkit/authority/loosening-words.ts";

const changing = (Object.keys(operations) as Operation[]).filter(changesState);

const effects = {
  TIGHTENS: "no",
  LOOSENS: "yes",
  "FIELD BY FIELD": "field by field, below",
  "WHEN VOUCHED FOR": "when it is vouched for; at once where it tightens",
} as const;

function operationRows(): readonly string[] {
  return changing.flatMap((operation) => {
    const { loosens, what = "", secondFactor = "no", inHalt = "" } = looseningWords[operation];
    return loosens === "NOTHING"
      ? []
      : [`| \`${operation}\` | ${what} | ${effects[loosens]} | ${secondFactor} | ${inHalt} |`];
  });
}

const fieldEffects: Readonly<Record<FieldLoosens, string>> = {
  ALWAYS: "every change",
  NEVER: "no",
  HIGHER: "when it grows",
  LOWER: "when it falls",
  LATER: "when it is later",
  MORE: "when it gets an entry more",
  "ALL BUT FIRST": "every change but from nothing to something",
};
const recordEffects: Readonly<Record<KindWord["added"], string>> = {
  LOOSENS: "yes",
  TIGHTENS: "no",
  "IF STILL RATED": "where the pair stays the other way round",
};
const unusedRecords: Readonly<Record<KindWord["unused"], string>> = {
  NONE: "",
  "NOTHING USES IT": "; not while nothing uses it",
  "NO ENVELOPE, ORDERS AND VALUES": "; not of a fund without envelope, orders and values",
  "NEW, NOT HELD, ON NO LIST": "; not a new one that no fund holds and no list names",
};

const asked = (loosens: string): string =>
  loosens === "no" ? "no | as without one |" : "where it loosens | a second person signs what loosens |";

function referenceRows(): readonly string[] {
  return Object.entries<KindWord>(referenceWords).flatMap(([kind, { added, removed, unused, fields }]) => {
    const [comes, goes] = [recordEffects[added], recordEffects[removed]];
    const rows = [
      `| \`SetReferenceData\` | ${kind}: a record comes | ${comes}${comes === "no" ? "" : unusedRecords[unused]} | ${asked(comes)}`,
      `| \`SetReferenceData\` | ${kind}: a record goes | ${goes} | ${asked(goes)}`,
    ];
    const ofFields = Object.entries(fields).flatMap(([field, { loosens, why }]) => {
      if (why === "names the record") return [];
      const effect = fieldEffects[loosens];
      return [`| \`SetReferenceData\` | ${kind}: \`${field}\` (${why}) | ${effect} | ${asked(effect)}`];
    });
    return [...rows, ...ofFields];
  });
}

const envelopeEffects: Readonly<Record<(typeof envelopeWords)[keyof typeof envelopeWords]["loosens"], string>> = {
  NEVER: "no",
  HIGHER: "when it grows",
  "HIGHER OR ABSENT": "when it grows, or goes",
  MORE: "when it gets an entry more",
  TRUE: "when it becomes true",
  "NOT TRUE": "when it becomes false",
  "WIDER; NARROWER TOO WHERE ORDERS WITHOUT A PRICE ARE ALLOWED":
    "when it is wider; every change where MARKET or STOP is allowed, which it values",
  "SHORTER WHERE SILENCE PASSES": "when it is shorter and silence passes",
  "SILENCE PASSES": "when silence passes",
  SHORTER: "when it is shorter",
};

function envelopeRows(): readonly string[] {
  return Object.entries(envelopeWords).flatMap(([field, { loosens, guarded }]) => {
    if (loosens === "NEVER") return [];
    const factor = guarded === true ? "every change" : "where it loosens";
    return [
      `| \`UpdateEnvelope\` | \`${field}\` | ${envelopeEffects[loosens]} | ${factor} | refused where it loosens |`,
    ];
  });
}

export function looseningSection(): readonly string[] {
  const silent = changing.filter((operation) => looseningWords[operation].loosens === "NOTHING");
  return [
    "## What loosens",
    "",
    "Whatever a gate reads is declared: in `testkit/authority/loosening-words.ts` by operation, in `testkit/authority/envelope-words.ts` and `contracts/src/records/reference-fields.ts` field by field. An operation or a field without its word does not",
    "compile, and a field that is met without one loosens. One field that loosens makes the whole change loosen.",
    "",
    "| operation | what gates read of it | loosens? | second factor? | in a halt? |",
    "|---|---|---|---|---|",
    ...operationRows(),
    "",
    "Field by field:",
    "",
    "| operation | field | loosens? | second factor? | in a halt? |",
    "|---|---|---|---|---|",
    ...referenceRows(),
    ...envelopeRows(),
    "",
    `No gate reads what these change: ${silent.map((operation) => `\`${operation}\``).join(", ")}.`,
    "",
  ];
}
