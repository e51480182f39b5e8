// The checks of `ctl doctor` that there are funds, each with its limits and with a source of its values: without them orders are denied.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { failureOf } from "../failure.ts";
import type { Context } from "../verbs/verb.ts";

interface FundsCheck {
  readonly name: "funds" | "values";
  readonly state: "ok" | "warn";
  readonly detail: string;
  readonly advice?: string;
}

const timeoutMs = 5_000;
const shownMax = 10;

/** Nothing for callers who may not read them. */
export async function fundsCheck(context: Context): Promise<readonly FundsCheck[]> {
  const name = "funds";
  try {
    const client = await context.client();
    const funds = await client.listFunds({}, { timeoutMs });
    if (funds.length === 0) {
      const advice =
        "`ctl treasury reference set` puts calendars, instruments and funds in, `ctl riskengine envelope set` the limits: docs/foreign-systems.md.";
      return [{ name, state: "warn", detail: "there is none: every order is denied", advice }];
    }
    const unlimited: string[] = [];
    for (const { fund_id: id } of funds.slice(0, shownMax)) if (!(await hasLimits(context, id))) unlimited.push(id);
    const values = valuesCheck(funds);
    if (unlimited.length === 0) {
      return [{ name, state: "ok", detail: funds.map(({ fund_id: id }) => id).join(", ") }, ...values];
    }
    const detail = `without limits, so that every order of theirs is denied: ${unlimited.join(", ")}`;
    const advice = `ctl riskengine envelope set --fund-id ${unlimited[0] ?? ""} --reason TEXT with its first limits`;
    return [{ name, state: "warn", detail, advice }, ...values];
  } catch (error) {
    const { exit, detail } = await failureOf(error);
    return exit === exitCodes.unavailable ? [{ name, state: "warn", detail: `not known: ${detail}` }] : [];
  }
}

type Funds = Awaited<ReturnType<Awaited<ReturnType<Context["client"]>>["listFunds"]>>;

/** Nothing from a server that does not say whose values count. */
function valuesCheck(funds: Funds): readonly FundsCheck[] {
  const name = "values";
  const saying = funds.filter(({ other_value_sources: others }) => others !== undefined);
  if (saying.length === 0) return [];
  const nobodys = saying.filter(({ valued_by: valuer }) => valuer === undefined).map(({ fund_id: id }) => id);
  const others = saying.flatMap(({ fund_id: id, other_value_sources: heard = [] }) =>
    heard.length === 0 ? [] : [`${id} by ${heard.slice(0, shownMax).join(", ")}`],
  );
  const heard =
    others.length === 0 ? "" : `; published as well, and not counted: ${others.slice(0, shownMax).join("; ")}`;
  if (nobodys.length > 0) {
    const detail = `no source is named, so that no new risk passes: ${nobodys.slice(0, shownMax).join(", ")}${heard}`;
    const advice =
      "`ctl treasury reference show --kind funds` prints the funds: add valued_by, and `ctl treasury reference set --kind funds --file PATH --reason TEXT --totp CODE`";
    return [{ name, state: "warn", detail, advice }];
  }
  const named = saying.map(({ fund_id: id, valued_by: valuer = "" }) => `${id} by ${valuer}`).slice(0, shownMax);
  return [{ name, state: "ok", detail: `${named.join(", ")}${heard}` }];
}

async function hasLimits(context: Context, fundId: string): Promise<boolean> {
  try {
    await (await context.client()).getEnvelope({ fundId }, { timeoutMs });
    return true;
  } catch (error) {
    const { code } = await failureOf(error);
    if (code === "NOT_FOUND") return false;
    throw error;
  }
}
