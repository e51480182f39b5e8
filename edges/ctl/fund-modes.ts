// Whether a fund trades paper or money, said wherever its orders and positions are shown. Whoever cannot say it must not keep the rest back: then it reads "?".
import { clean } from "../../contracts/src/text/clean.ts";
import type { Client } from "../client/src/types.ts";
import { isApiError } from "./failure.ts";
import type { Context } from "./verbs/verb.ts";

export type ModeOf = (fundId: string) => string;

export async function fundModes(client: Client, context: Context): Promise<ModeOf> {
  try {
    const modes = new Map((await client.listFunds()).map(({ fund_id, mode }) => [fund_id, mode as string]));
    return (fundId) => modes.get(fundId) ?? "?";
  } catch (thrown) {
    if (!isApiError(thrown) || thrown.status < 500) throw thrown;
    context.terminal.say(`Which funds are PAPER and which LIVE cannot be reported now: ${clean(thrown.message)}`);
    return () => "?";
  }
}
