// The reports of the specification as functions: `createReports(client).nav_report("alpha", "30d")`. The platform makes each of them; this asks, waits and
// fetches. html, json and csv resolve to a string, pdf to bytes. Which reports and parameters there are is the server's to say.
import type { CallOptions } from "./call-options.ts";
import { pause } from "./retry.ts";
import type { Client } from "./types.ts";

type ReportFormat = "html" | "pdf" | "json" | "csv";
type Rendered<Format extends ReportFormat> = Format extends "pdf" ? Uint8Array : string;

export interface ReportOptions extends Pick<CallOptions, "signal"> {
  /** As it was known at this moment, RFC 3339; now otherwise. */
  readonly as_of?: string;
  readonly benchmark?: string;
  /** The riskless rate of a year, as a fraction. */
  readonly rf_annual?: number | string;
  readonly lots?: string;
  /** Hears what the report is at. */
  readonly onProgress?: (progress: string) => void;
}

/** The platform could not make it; `detail` says why. */
export class ReportFailedError extends Error {
  override readonly name = "ReportFailedError";
  readonly reportId: string;
  readonly detail: string;

  constructor(reportId: string, detail: string) {
    super(detail);
    this.reportId = reportId;
    this.detail = detail;
  }
}

type Given = Readonly<Record<string, string | number | readonly string[] | undefined>>;
type ReportsClient = Pick<Client, "makeReport" | "getReport" | "reportDocument">;

const firstLookMs = 100;
const lookMsMax = 1_000;

type ByPeriod = <Format extends ReportFormat = "html">(
  fund_id: string,
  start: string,
  end: string,
  format?: Format,
  options?: ReportOptions,
) => Promise<Rendered<Format>>;

type ByWindow = <Format extends ReportFormat = "html">(
  id: string,
  window: string,
  format?: Format,
  options?: ReportOptions,
) => Promise<Rendered<Format>>;

/** As the specification names them. */
interface Specified {
  trade_report<Format extends ReportFormat = "html">(
    fund_id: string,
    start: string,
    end: string,
    format?: Format,
    /** Sections; all of them when absent. */
    include?: readonly string[],
    options?: ReportOptions,
  ): Promise<Rendered<Format>>;
  nav_report: ByWindow;
  postmortem_auto_rca<Format extends ReportFormat = "html">(
    fund_id: string,
    drawdown_start: string,
    drawdown_end: string,
    options?: ReportOptions & { readonly format?: Format },
  ): Promise<Rendered<Format>>;
  alpha_decay: ByWindow;
  settlement_report<Format extends ReportFormat = "html">(
    fund_id: string,
    year: number | string,
    format?: Format,
    options?: ReportOptions,
  ): Promise<Rendered<Format>>;
  risk_envelope_report<Format extends ReportFormat = "html">(
    fund_id: string,
    as_of?: string,
    format?: Format,
    options?: ReportOptions,
  ): Promise<Rendered<Format>>;
  tca_report: ByWindow;
  regime_attribution: ByPeriod;
  factor_attribution: ByPeriod;
  position_attribution: ByPeriod;
}

/** Every function under both of its names. */
export interface Reports extends Specified {
  readonly tradeReport: Specified["trade_report"];
  readonly navReport: Specified["nav_report"];
  readonly postmortemAutoRca: Specified["postmortem_auto_rca"];
  readonly alphaDecay: Specified["alpha_decay"];
  readonly settlementReport: Specified["settlement_report"];
  readonly riskEnvelopeReport: Specified["risk_envelope_report"];
  readonly tcaReport: Specified["tca_report"];
  readonly regimeAttribution: Specified["regime_attribution"];
  readonly factorAttribution: Specified["factor_attribution"];
  readonly positionAttribution: Specified["position_attribution"];
}

export function createReports(client: ReportsClient): Reports {
  const make = <Format extends ReportFormat>(
    report: string,
    parameters: Given,
    format: Format | undefined,
    options: ReportOptions | undefined,
  ): Promise<Rendered<Format>> => made(client, report, parameters, format ?? ("html" as Format), options ?? {});
  const byWindow =
    (report: string, id = "fund_id"): ByWindow =>
    (of, window, format, options) =>
      make(report, { [id]: of, window }, format, options);
  const byPeriod =
    (report: string): ByPeriod =>
    (fund_id, start, end, format, options) =>
      make(report, { fund_id, start, end }, format, options);
  const specified: Specified = {
    trade_report: (fund_id, start, end, format, include, options) =>
      make("trade_report", { fund_id, start, end, include }, format, options),
    nav_report: byWindow("nav_report"),
    postmortem_auto_rca: (fund_id, drawdown_start, drawdown_end, options) =>
      make("postmortem_auto_rca", { fund_id, drawdown_start, drawdown_end }, options?.format, options),
    alpha_decay: byWindow("alpha_decay", "strategy_id"),
    settlement_report: (fund_id, year, format, options) =>
      make("settlement_report", { fund_id, year }, format, options),
    risk_envelope_report: (fund_id, as_of, format, options) =>
      make("risk_envelope_report", { fund_id, as_of }, format, options),
    tca_report: byWindow("tca_report"),
    regime_attribution: byPeriod("regime_attribution"),
    factor_attribution: byPeriod("factor_attribution"),
    position_attribution: byPeriod("position_attribution"),
  };
  return {
    ...specified,
    tradeReport: specified.trade_report,
    navReport: specified.nav_report,
    postmortemAutoRca: specified.postmortem_auto_rca,
    alphaDecay: specified.alpha_decay,
    settlementReport: specified.settlement_report,
    riskEnvelopeReport: specified.risk_envelope_report,
    tcaReport: specified.tca_report,
    regimeAttribution: specified.regime_attribution,
    factorAttribution: specified.factor_attribution,
    positionAttribution: specified.position_attribution,
  };
}

async function made<Format extends ReportFormat>(
  client: ReportsClient,
  report: string,
  given: Given,
  format: Format,
  { as_of, benchmark, rf_annual, lots, signal, onProgress }: ReportOptions,
): Promise<Rendered<Format>> {
  const call: CallOptions = signal === undefined ? {} : { signal };
  const all: Given = { as_of, benchmark, rf_annual, lots, ...withoutGaps(given) };
  const parameters = withoutGaps(all);
  const { report_id: reportId } = await client.makeReport({ report, parameters, format }, call);
  let progress = "";
  for (let waitMs = firstLookMs; ; waitMs = Math.min(lookMsMax, waitMs * 1.5)) {
    const standing = await client.getReport({ reportId }, call);
    if (standing.progress !== progress) onProgress?.(standing.progress);
    progress = standing.progress;
    if (standing.status === "FAILED") {
      throw new ReportFailedError(reportId, standing.detail ?? "The report failed without a reason.");
    }
    if (standing.status === "DONE") break;
    await pause(waitMs, signal ?? new AbortController().signal);
  }
  const content = await client.reportDocument({ reportId, format }, call);
  // The type says which of the two it is.
  return (format === "pdf" ? content : new TextDecoder().decode(content)) as Rendered<Format>;
}

function withoutGaps(given: Given): Record<string, string | number | string[]> {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, typeof value === "object" ? [...value] : value]],
    ),
  );
}
