// A halt that was asked for, as the record that is latched. It is read generously: whatever can be mended in its texts is mended,
// because a halt that is refused for a tab in its reason fails open. Only a halt that does not say whom it halts is refused.
import type { Denial } from "../../contracts/src/codes.ts";
import type { HaltRequest } from "../../contracts/src/generated/svc/v1/halt.ts";
import { format, type Instant } from "../../contracts/src/instant.ts";
import { idText } from "../../contracts/src/records/fields.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { FundReference } from "../../contracts/src/records/reference.ts";
import { drillFundId, isDrill } from "../../core/halts/halts.ts";
import type { Identity } from "../../ports/identity.ts";
import { line } from "../shared/one-line.ts";

export type AskedHalt = Omit<ActiveHalt, "epoch">;
type Scope = Pick<ActiveHalt, "severity" | "fund_id" | "strategy_id">;

/** Which funds there are, and whose strategies. */
export interface Funds {
  fund(fundId: string): FundReference | undefined;
  fundOfStrategy(strategyId: string): FundReference | undefined;
}

interface HaltAsked {
  readonly request: HaltRequest;
  readonly identity: Identity;
  readonly at: Instant;
  /** Used when the caller gave none. */
  readonly newId: () => string;
}

export function readHalt({ request, identity, at, newId }: HaltAsked, funds: Funds): AskedHalt | Denial {
  const scope = readScope(request, funds);
  if ("code" in scope) return scope;
  // Only drills halt their own fund, because only they lift what halts it.
  if (isDrill(scope)) return invalid(`The fund ${shown(drillFundId)} is for drills, and nobody else's to halt.`);
  if (request.halt_id !== undefined && !idText.safeParse(request.halt_id).success) {
    return invalid("The halt_id is no identifier.");
  }
  const claimed = claimedBy(request.requested_by, identity);
  const evidence = request.evidence === undefined ? {} : flatFacts(request.evidence);
  return {
    ...scope,
    reason: line(request.reason, 2_000),
    requested_by: identity.actor,
    ...(request.confirmation === undefined ? {} : { confirmation: line(request.confirmation, 20) }),
    ...(request.evidence === undefined && claimed === undefined
      ? {}
      : { evidence: { ...evidence, ...(claimed !== undefined && { claimed_by: claimed }) } }),
    halt_id: request.halt_id ?? newId(),
    since: format(at),
  };
}

/** Whom a halt is about, beyond the fund that it names: at the level of the firm that is everybody, whatever fund stands there. */
export async function fundsHalted({ severity }: HaltRequest): Promise<"every" | undefined> {
  return severity === "FIRM_HALT" ? "every" : undefined;
}

/** A halt that names more than its level needs is taken at its level. */
function readScope({ severity, fund_id: fundId, strategy_id: strategyId }: HaltRequest, funds: Funds): Scope | Denial {
  if (severity === "FIRM_HALT") return { severity, fund_id: "" };
  if (severity === "FUND_HALT") {
    if (fundId === "") return invalid("A FUND_HALT names its fund.");
    if (funds.fund(fundId) === undefined) return invalid(`There is no fund ${shown(fundId)}.`);
    return { severity, fund_id: fundId };
  }
  if (severity === "STRATEGY_HALT") {
    if (strategyId === undefined || strategyId === "") return invalid("A STRATEGY_HALT names its strategy.");
    const owner = funds.fundOfStrategy(strategyId);
    if (owner === undefined) return invalid(`There is no strategy ${shown(strategyId)}.`);
    if (fundId !== "" && fundId !== owner.fund_id) {
      return invalid(`The strategy ${shown(strategyId)} belongs to ${owner.fund_id}, not to ${shown(fundId)}.`);
    }
    return { severity, fund_id: owner.fund_id, strategy_id: strategyId };
  }
  return invalid("A halt says its severity: STRATEGY_HALT, FUND_HALT or FIRM_HALT.");
}

/** Who asks is who they proved to be. What a machine calls itself is a claim, kept among the evidence: whichever word stands there, nobody passes for another. */
function claimedBy(asked: string, { kind, actor }: Identity): string | undefined {
  const named = line(asked, 200).trim();
  return kind === "operator" || named === "" || named === actor ? undefined : named;
}

const factsMax = 100;
const factLengthMax = 500;
/** Every engine reads every halt's evidence, several times a second, and so does the public. */
const evidenceLengthMax = 8_000;

function flatFacts(evidence: Readonly<Record<string, unknown>>): Record<string, string | number | boolean | null> {
  const facts: Record<string, string | number | boolean | null> = {};
  let left = evidenceLengthMax;
  for (const [given, value] of Object.entries(evidence).slice(0, factsMax)) {
    const name = line(given, 64);
    const fact = flat(value);
    left -= name.length + String(fact).length;
    if (left < 0) break;
    facts[name] = fact;
  }
  return facts;
}

function flat(value: unknown): string | number | boolean | null {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return line(value, factLengthMax);
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  return line(JSON.stringify(value) ?? "", factLengthMax);
}

function shown(id: string): string {
  return JSON.stringify(line(id, 128));
}

function invalid(reason: string): Denial {
  return { code: "HALT_SCOPE_INVALID", reason };
}
