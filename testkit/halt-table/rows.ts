// Who may halt, resume and co-sign, as one table: each row changes one thing about a request that would be granted, and says what comes of it on every
// surface. The codes are written here once more and not taken from the product, because operators and their programs build on them.

export type Level = "STRATEGY_HALT" | "FUND_HALT" | "FIRM_HALT";
export type Verb = "halt" | "resume" | "request-all" | "co-sign";

export type Who =
  | "nobody"
  | "somebody with a token that is not ours"
  | "viewer"
  | "risk_officer"
  | "admin"
  | "operator"
  | "operator and risk_officer"
  | "machine"
  | "machine for other things"
  | "the requester"
  | "the requester in a second session"
  | "somebody of the requester's name";

export type Code = "right" | "missing" | "wrong" | "replayed" | "expired" | "none set up" | "locked";
export type Word = "right" | "missing" | "wrong" | "wrong case";
export type RequestState =
  | "fresh"
  | "unknown"
  | "expired"
  | "replaced"
  | "signed"
  | "one more halt since"
  | "one halt less since";

export interface Row {
  readonly verb: Verb;
  /** Of the halt that is raised or lifted; a request for everything covers all three. */
  readonly level: Level;
  readonly who: Who;
  /** Absent where none is sent because none is asked for. */
  readonly code?: Code;
  readonly word: Word;
  readonly reason: "given" | "missing";
  readonly cosignedBy: "not said" | "the caller" | "another";
  /** What the caller says it was shown. */
  readonly haltIds: "not said" | "those in force" | "others";
  readonly request: RequestState;
  /** Names a scope that has no halt of its own. */
  readonly target: "halted" | "covered from above";
  /** Empty when it is granted. */
  readonly expected: string;
}

const levels: readonly Level[] = ["STRATEGY_HALT", "FUND_HALT", "FIRM_HALT"];
const good: Omit<Row, "verb" | "level"> = {
  ...({ who: "operator", word: "right", reason: "given", cosignedBy: "not said" } as const),
  ...({ haltIds: "not said", request: "fresh", target: "halted", expected: "" } as const),
};

type Change = Partial<Omit<Row, "verb" | "level" | "expected">>;
const row = (verb: Verb, level: Level, expected: string, change: Change = {}): Row => ({
  ...good,
  ...(verb === "request-all" || verb === "co-sign" ? { code: "right" as const } : {}),
  ...change,
  verb,
  level,
  expected,
});

/** What is the same for every verb: whoever proved nothing or has not the role gets nowhere, whatever else is right. */
const doors = (verb: Verb, level: Level): readonly Row[] => [
  row(verb, level, "UNAUTHENTICATED", { who: "nobody" }),
  row(verb, level, "UNAUTHENTICATED", { who: "somebody with a token that is not ours" }),
  row(verb, level, "PERMISSION_DENIED", { who: "viewer" }),
  row(verb, level, "PERMISSION_DENIED", { who: "machine for other things" }),
  // Everybody who carries responsibility may stop; only operators lift, and never a machine, whatever its token names.
  ...(["risk_officer", "admin", "machine"] as const).map((who) =>
    verb === "halt"
      ? row(verb, level, "", { who, ...(who === "machine" ? { word: "missing" } : {}) })
      : row(verb, level, "PERMISSION_DENIED", { who }),
  ),
];

const words = (verb: Verb, level: Level): readonly Row[] =>
  (["missing", "wrong", "wrong case"] as const).map((word) => row(verb, level, "CONFIRMATION_WRONG", { word }));

const names = (verb: Verb, level: Level): readonly Row[] => [
  row(verb, level, "", { cosignedBy: "the caller" }),
  row(verb, level, "RESUME_COSIGN_FORGED", { cosignedBy: "another" }),
  row(verb, level, "", { haltIds: "those in force" }),
  row(verb, level, "RESUME_REQUEST_VOID", { haltIds: "others" }),
];

const halts = levels.flatMap((level) => [
  row("halt", level, ""),
  row("halt", level, "", { reason: "missing" }),
  row("halt", level, "", { code: "none set up" }),
  ...doors("halt", level),
  ...words("halt", level),
  // A person types the word, whatever their role.
  row("halt", level, "CONFIRMATION_WRONG", { who: "risk_officer", word: "missing" }),
  row("halt", level, "CONFIRMATION_WRONG", { who: "admin", word: "wrong" }),
]);

const resumes = (["STRATEGY_HALT", "FUND_HALT"] as const).flatMap((level) => [
  row("resume", level, ""),
  row("resume", level, "RESUME_REASON_MISSING", { reason: "missing" }),
  // No caller is asked for a code here, so none is looked at.
  row("resume", level, "", { code: "wrong" }),
  row("resume", level, "", { code: "none set up" }),
  // The firm's halt covers it, and is lifted in no such way.
  row("resume", level, "HALT_NOT_ACTIVE", { target: "covered from above" }),
  ...doors("resume", level),
  ...words("resume", level),
  ...names("resume", level),
]);

const codes = (verb: Verb): readonly Row[] => [
  row(verb, "FIRM_HALT", "RESUME_SECOND_FACTOR_MISSING", { code: "missing" }),
  row(verb, "FIRM_HALT", "SECOND_FACTOR_MISSING", { code: "none set up" }),
  row(verb, "FIRM_HALT", "RESUME_SECOND_FACTOR_WRONG", { code: "wrong" }),
  row(verb, "FIRM_HALT", "RESUME_SECOND_FACTOR_WRONG", { code: "replayed" }),
  row(verb, "FIRM_HALT", "RESUME_SECOND_FACTOR_WRONG", { code: "expired" }),
  row(verb, "FIRM_HALT", "SECOND_FACTOR_LOCKED", { code: "locked" }),
];

const everything = (["request-all", "co-sign"] as const).flatMap((verb) => [
  row(verb, "FIRM_HALT", ""),
  ...doors(verb, "FIRM_HALT"),
  ...words(verb, "FIRM_HALT"),
  ...names(verb, "FIRM_HALT"),
  ...codes(verb),
]);

const requests = [
  row("request-all", "FIRM_HALT", "RESUME_REASON_MISSING", { reason: "missing" }),
  // The reason is the request's.
  row("co-sign", "FIRM_HALT", "", { reason: "missing" }),
  row("co-sign", "FIRM_HALT", "RESUME_COSIGN_SAME_PERSON", { who: "the requester" }),
  row("co-sign", "FIRM_HALT", "RESUME_COSIGN_SAME_PERSON", { who: "the requester in a second session" }),
  row("co-sign", "FIRM_HALT", "RESUME_COSIGN_SAME_PERSON", { who: "somebody of the requester's name" }),
  row("co-sign", "FIRM_HALT", "RESUME_REQUEST_UNKNOWN", { request: "unknown" }),
  row("co-sign", "FIRM_HALT", "RESUME_REQUEST_EXPIRED", { request: "expired" }),
  row("co-sign", "FIRM_HALT", "RESUME_REQUEST_VOID", { request: "replaced" }),
  row("co-sign", "FIRM_HALT", "RESUME_REQUEST_UNKNOWN", { request: "signed" }),
  row("co-sign", "FIRM_HALT", "RESUME_REQUEST_VOID", { request: "one more halt since" }),
  // The lift itself ended the request.
  row("co-sign", "FIRM_HALT", "RESUME_REQUEST_VOID", { request: "one halt less since" }),
];

export const rows: readonly Row[] = [...halts, ...resumes, ...everything, ...requests];

/** The row as a person would tell it: what differs from a request that is granted. */
export function rowText({ verb, level, expected, ...reported }: Row): string {
  const usual: Readonly<Record<string, unknown>> = { ...good };
  const differs = Object.entries(reported).filter(([name, value]) => value !== usual[name] && value !== "right");
  const what = verb === "halt" || verb === "resume" ? `${verb} ${level}` : verb;
  const how = differs.map(([name, value]) => `${name}: ${value}`).join(", ");
  return `${what}${how === "" ? "" : ` (${how})`} -> ${expected === "" ? "granted" : expected}`;
}

/** How a code is said on each surface: the gRPC status, the HTTP status, the exit of ctl. */
export const said: Readonly<Record<string, readonly [grpc: string, http: number, exit: number]>> = {
  UNAUTHENTICATED: ["UNAUTHENTICATED", 401, 4],
  PERMISSION_DENIED: ["PERMISSION_DENIED", 403, 5],
  CONFIRMATION_WRONG: ["FAILED_PRECONDITION", 409, 3],
  HALT_NOT_ACTIVE: ["FAILED_PRECONDITION", 409, 6],
  HALT_SCOPE_INVALID: ["INVALID_ARGUMENT", 400, 2],
  RESUME_REASON_MISSING: ["FAILED_PRECONDITION", 409, 6],
  RESUME_SECOND_FACTOR_MISSING: ["PERMISSION_DENIED", 403, 5],
  RESUME_SECOND_FACTOR_WRONG: ["PERMISSION_DENIED", 403, 5],
  RESUME_COSIGN_SAME_PERSON: ["PERMISSION_DENIED", 403, 5],
  RESUME_COSIGN_FORGED: ["PERMISSION_DENIED", 403, 5],
  RESUME_REQUEST_UNKNOWN: ["NOT_FOUND", 404, 6],
  RESUME_REQUEST_VOID: ["FAILED_PRECONDITION", 409, 6],
  RESUME_REQUEST_EXPIRED: ["FAILED_PRECONDITION", 409, 6],
  SECOND_FACTOR_MISSING: ["FAILED_PRECONDITION", 409, 5],
  SECOND_FACTOR_LOCKED: ["RESOURCE_EXHAUSTED", 429, 5],
};
