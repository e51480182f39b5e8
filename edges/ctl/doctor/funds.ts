// The check of `ctl doctor` that there are funds, each with its limits: without them every order is denied.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { failureOf } from "../failure.ts";
import type { Context } from "../verbs/verb.ts";

interface FundsCheck {
  readonly name: "funds";
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
    if (unlimited.length === 0) return [{ name, state: "ok", detail: funds.map(({ fund_id: id }) => id).join(", ") }];
    const detail = `without limits, so that every order of theirs is denied: ${unlimited.join(", ")}`;
    const advice = `ctl riskengine envelope set --fund-id ${unlimited[0] ?? ""} --reason TEXT with its first limits`;
    return [{ name, state: "warn", detail, advice }];
  } catch (error) {
    const { exit, detail } = await failureOf(error);
    return exit === exitCodes.unavailable ? [{ name, state: "warn", detail: `not known: ${detail}` }] : [];
  }
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
