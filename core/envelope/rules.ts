// What is wrong with an envelope that somebody asks for: every mistake in one sentence that also says what to do. The schema of the record
// says what a field may be; the rules here say what the fields may be together, and what the schema cannot.
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";

/** What the schema complains about; of its own words only the place is used. */
interface Issue {
  readonly path: readonly PropertyKey[];
}

type Asked = Readonly<Record<string, unknown>>;
type Field = keyof RiskEnvelope;

const shareOfNav = "give a share of NAV from 0 to 10, where 0.07 is 7 %";
const lossOfNav = "give a share of NAV above 0 and up to 1, where 0.02 is 2 %";
const optionalLoss = `${lossOfNav}, or leave it out to have no such limit`;
const yesOrNo = "give true or false";

/** What to do about a field that is absent or not of its kind. */
const advice: Readonly<Partial<Record<Field, string>>> = {
  fund_id: "give the fund's id: letters, digits and . _ : @ / -, at most 128",
  version: "give the current version plus 1",
  max_position_pct: shareOfNav,
  daily_loss_halt_pct: lossOfNav,
  weekly_loss_halt_pct: lossOfNav,
  monthly_loss_halt_pct: lossOfNav,
  synthetic_stop_pct: "give a distance above 0 and below 1 as a fraction of the fill price, where 0.05 is 5 %",
  max_notional:
    "give an amount of 0 or more in the fund's currency, with at most 20 digits before and 18 after the point",
  allowed_brokers: "give at most 100 names of one line each",
  allowed_order_types: "give words out of MARKET, LIMIT, STOP and STOP_LIMIT",
  allowed_asset_classes: "give words out of EQUITY, CRYPTO and OPTION",
  max_gross_exposure_pct: shareOfNav,
  max_net_exposure_pct: shareOfNav,
  sector_limits_pct: `name each sector in one line of at most 200 characters and ${shareOfNav}`,
  shorting_enabled: yesOrNo,
  max_borrow_fee_pct: "give a yearly fraction from 0 to 1, where 0.03 is 3 % a year",
  price_collar_pct: "give a distance above 0 and below 1 as a fraction of the reference price, where 0.05 is 5 %",
  exit_collar_pct:
    "give a distance above 0 and up to 0.9 as a fraction of the reference price, where 0.2 is 20 %, or leave it out to have 4 x price_collar_pct",
  strict_sides: yesOrNo,
  max_stress_loss_pct: optionalLoss,
  order_rate_max_per_s: "give a whole number of orders from 1 to 100000",
  halt_allow_reduce_only: yesOrNo,
  strategy_loss_halt_pct: optionalLoss,
  rolling_24h_loss_halt_pct: optionalLoss,
  rolling_5d_loss_halt_pct: optionalLoss,
  high_water_loss_halt_pct: optionalLoss,
  cro_veto_enabled: yesOrNo,
  cro_veto_timeout_ms: "give whole milliseconds from 1 to 60000",
  cro_veto_on_timeout: "give DENY or PASS_WITH_WARNING",
  repeated_execution_max: "give a whole number from 1 to 1000000, or leave it out to have no throttle",
  repeated_execution_window_s: "give whole seconds from 1 to 86400",
  reason: "give one line of at most 2000 characters",
};

/** Pairs of which the first may not be above the second: a longer period or a wider sum allows at least as much. */
const ascending: readonly (readonly [lower: Field, upper: Field])[] = [
  ["daily_loss_halt_pct", "weekly_loss_halt_pct"],
  ["weekly_loss_halt_pct", "monthly_loss_halt_pct"],
  ["daily_loss_halt_pct", "rolling_24h_loss_halt_pct"],
  ["rolling_24h_loss_halt_pct", "rolling_5d_loss_halt_pct"],
  ["daily_loss_halt_pct", "high_water_loss_halt_pct"],
  ["max_net_exposure_pct", "max_gross_exposure_pct"],
  ["max_position_pct", "max_gross_exposure_pct"],
];

/** Fields that say nothing unless another one is set. */
const companions: readonly (readonly [field: Field, needs: Field, is: unknown])[] = [
  ["cro_veto_timeout_ms", "cro_veto_enabled", true],
  ["cro_veto_on_timeout", "cro_veto_enabled", true],
];

const belowOne: readonly Field[] = ["synthetic_stop_pct", "price_collar_pct"];
const lists: readonly Field[] = ["allowed_brokers", "allowed_order_types", "allowed_asset_classes"];
const sectorsMax = 100;
const mistakesMax = 40;
const shownCharactersMax = 60;

/** Every mistake, at most so many that an answer can carry them; empty when there is none. */
export function envelopeMistakes(asked: Asked, issues: readonly Issue[]): readonly string[] {
  const found = new Set([...issues.map((issue) => aboutIssue(asked, issue)), ...aboutRules(asked)]);
  const reported = [...found].slice(0, mistakesMax);
  return found.size > reported.length
    ? [...reported, `There are ${found.size - reported.length} more mistakes.`]
    : reported;
}

function aboutIssue(asked: Asked, issue: Issue): string {
  const [field = "", part] = issue.path.map(String);
  const todo = advice[field as Field] ?? "leave it out";
  const value = asked[field];
  if (value === undefined) return `${field} is missing: ${todo}.`;
  if (part === undefined) return `${field} is ${shown(value)}: ${todo}.`;
  const member: unknown = typeof value === "object" && value !== null ? Reflect.get(value, part) : undefined;
  const name = Array.isArray(value) ? field : `${field}.${clipped(part)}`;
  return `${name} is ${shown(member)}: ${todo}.`;
}

function* aboutRules(asked: Asked): Iterable<string> {
  for (const field of belowOne) {
    if (asked[field] === 1) yield `${field} is 1: ${advice[field] ?? ""}.`;
  }
  for (const [lower, upper] of ascending) {
    const [low, high] = [numberIn(asked, lower), numberIn(asked, upper)];
    if (low > high) yield `${lower} (${low}) is above ${upper} (${high}): lower the first or raise the second.`;
  }
  for (const [field, needs, is] of companions) {
    if (asked[field] === undefined || asked[needs] === is) continue;
    yield `${field} is given, but ${needs} is not ${shown(is)}: set that, or leave this out.`;
  }
  if (asked["repeated_execution_window_s"] !== undefined && asked["repeated_execution_max"] === undefined) {
    yield "repeated_execution_window_s is given without repeated_execution_max: give both, or leave it out.";
  }
  for (const field of lists) yield* aboutRepetitions(field, asked[field]);
  yield* aboutSectors(asked);
}

function* aboutRepetitions(field: Field, list: unknown): Iterable<string> {
  if (!Array.isArray(list)) return;
  const once = new Set<unknown>();
  const repeated = new Set<unknown>();
  for (const entry of list) (once.has(entry) ? repeated : once).add(entry);
  for (const entry of repeated) yield `${field} names ${shown(entry)} more than once: name it once.`;
}

function* aboutSectors(asked: Asked): Iterable<string> {
  const sectors = asked["sector_limits_pct"];
  if (typeof sectors !== "object" || sectors === null) return;
  const entries: readonly (readonly [string, unknown])[] = Object.entries(sectors);
  if (entries.length > sectorsMax) {
    yield `sector_limits_pct names ${entries.length} sectors: name at most ${sectorsMax}.`;
  }
  const gross = numberIn(asked, "max_gross_exposure_pct");
  for (const [sector, limit] of entries) {
    const name = `sector_limits_pct.${clipped(sector)}`;
    // A map from JSON may carry this name, and the readers of the record would drop it without a word.
    if (sector === "__proto__") yield `${name} is no name for a sector: choose another.`;
    if (typeof limit === "number" && limit > gross) {
      yield `${name} (${limit}) is above max_gross_exposure_pct (${gross}): lower the first or raise the second.`;
    }
  }
}

/** NaN when there is no number: it is neither above nor below anything, so the schema's complaint stands alone. */
function numberIn(asked: Asked, field: Field): number {
  const value = asked[field];
  return typeof value === "number" ? value : Number.NaN;
}

function shown(value: unknown): string {
  if (typeof value === "number") return String(value);
  return clipped(JSON.stringify(value) ?? "absent");
}

function clipped(text: string): string {
  return text.length <= shownCharactersMax ? text : `${text.slice(0, shownCharactersMax)}…`;
}
