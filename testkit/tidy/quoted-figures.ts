// Sentences of the documentation that quote a constant of the code, each with the constant: tidy compares the two, so that neither changes alone.

export interface QuotedFigure {
  readonly document: string;
  /** As it stands in the document, with `{}` where the figure is. */
  readonly sentence: string;
  readonly source: string;
  readonly constant: string;
  /** How many of the constant's units make one of the sentence's: 1000 where the code has milliseconds and the sentence seconds. */
  readonly per?: number;
}

const [seconds, minutes] = [1_000, 60_000];
const halts = "docs/halts.md";

export const quotedFigures: readonly QuotedFigure[] = [
  {
    document: halts,
    sentence: "The latch waits for the engine's answer for at most {} ms.",
    source: "services/operations/halts/halts.ts",
    constant: "announceMsMax",
  },
  {
    document: "docs/benchmarks.md",
    sentence: "unless the engine lets the manager wait for more than {} ms",
    source: "services/operations/halts/halts.ts",
    constant: "announceMsMax",
  },
  {
    document: halts,
    sentence: "ends after {} seconds when the latch never came",
    source: "services/riskengine/halts.ts",
    constant: "announcedMsMax",
    per: seconds,
  },
  {
    document: halts,
    sentence: "when the halt manager has not answered after {} seconds",
    source: "edges/gateway/routes/halts.ts",
    constant: "patienceMs",
    per: seconds,
  },
  {
    document: halts,
    sentence: "What is not proven after {} seconds alarms",
    source: "services/operations/halts/steps.ts",
    constant: "openMsMax",
    per: seconds,
  },
  {
    document: "docs/night-of-a-halt.md",
    sentence: "A step that stays open raises `HALT_STEP_OPEN` after {} seconds",
    source: "services/operations/halts/steps.ts",
    constant: "openMsMax",
    per: seconds,
  },
  {
    document: halts,
    sentence: "it runs out after {} minutes",
    source: "core/halts/halts.ts",
    constant: "resumeValidMs",
    per: minutes,
  },
  {
    document: "docs/night-of-a-halt.md",
    sentence: "signs within {} minutes",
    source: "core/halts/halts.ts",
    constant: "resumeValidMs",
    per: minutes,
  },
  {
    document: halts,
    sentence: "evidence at {} facts",
    source: "services/halts/halt-request.ts",
    constant: "factsMax",
  },
  {
    document: halts,
    sentence: "facts and {} characters",
    source: "services/halts/halt-request.ts",
    constant: "evidenceLengthMax",
  },
  {
    document: halts,
    sentence: "After {} seconds `LOSS_LIMIT_NOT_JUDGED` alarms.",
    source: "services/riskengine/losses/loss-watch.ts",
    constant: "alarmAfterMs",
    per: seconds,
  },
  {
    document: halts,
    sentence: "a valuation was heard and not written within {} seconds",
    source: "services/riskengine/losses/loss-watch.ts",
    constant: "judgeMsMax",
    per: seconds,
  },
  {
    document: halts,
    sentence: "dated more than {} s ahead of the engine's clock",
    source: "core/state/dated.ts",
    constant: "aheadMsMax",
    per: seconds,
  },
  {
    document: halts,
    sentence: "`FLATTEN_OPEN` is raised after {} s",
    source: "services/operations/flatten/flatten-worker.ts",
    constant: "openMsMax",
    per: seconds,
  },
  {
    document: "docs/foreign-systems.md",
    sentence: "`valid_until` + {} s",
    source: "core/orders/approval-list.ts",
    constant: "approvalGraceMs",
    per: seconds,
  },
  {
    document: "docs/foreign-systems.md",
    sentence: "A key is free again after {} minutes",
    source: "services/riskengine/checks.ts",
    constant: "keyWindowMs",
    per: minutes,
  },
  {
    document: "docs/first-hour.md",
    sentence: "bars count as {}",
    source: "contracts/src/doors/open-shares.ts",
    constant: "publicBarsCost",
  },
  {
    document: "docs/audit.md",
    sentence: "the rows are counted from {} before",
    source: "services/operations/audit/checking/tail-check.ts",
    constant: "countedRows",
  },
  {
    document: "docs/audit.md",
    sentence: "the newest {} are read and chained",
    source: "services/operations/audit/checking/tail-check.ts",
    constant: "readRows",
  },
  {
    document: "docs/identity.md",
    sentence: "| a code of the device flow | {} minutes |",
    source: "adapters/identity/embedded/library-configuration.ts",
    constant: "deviceCodeS",
    per: 60,
  },
  {
    document: "docs/webhook.md",
    sentence: "A row can be looked up for {} days after its receipt",
    source: "services/oms/trim-keys.ts",
    constant: "signalsKeptDays",
  },
  {
    document: "docs/decisions/0079-rest-while-notifications-travel.md",
    sentence: "looked every {} ms",
    source: "adapters/postgres/bus/subscription-pace.ts",
    constant: "pollMs",
  },
  {
    document: "docs/decisions/0079-rest-while-notifications-travel.md",
    sentence: "Where it fails or takes {} ms",
    source: "services/riskengine/safety-looks.ts",
    constant: "patienceMs",
  },
  {
    document: "docs/benchmarks.md",
    sentence: "at most {} statements a second",
    source: "bench/idle/idle.ts",
    constant: "statementsPerSecondMax",
  },
];

/** What is wrong with a quoted figure, as a sentence; nothing when document and code agree. */
export function figureComplaint(figure: QuotedFigure, read: (path: string) => string): string | undefined {
  const { document, sentence, source, constant, per = 1 } = figure;
  const declared = new RegExp(`\\bconst ${constant} = ([\\d_]+)(?: \\* ([\\d_]+))?;`).exec(read(source));
  if (declared === null) return `${source} has no constant ${constant}, which ${document} quotes`;
  const [, first = "", second = "1"] = declared;
  const value = (Number(first.replaceAll("_", "")) * Number(second.replaceAll("_", ""))) / per;
  const expected = sentence.replace("{}", value.toLocaleString("en-US"));
  if (read(document).replaceAll(/\s+/g, " ").includes(expected)) return undefined;
  return `${document} does not say "${expected}", which ${constant} of ${source} makes it`;
}
