// The check of `ctl doctor` that says which machines may speak of every fund: what a token of before named nothing of, and what was asked for so.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { failureOf } from "../failure.ts";
import { leftMs } from "../text/text.ts";
import type { Context } from "../verbs/verb.ts";

interface TokensCheck {
  readonly name: "machines";
  readonly state: "ok" | "warn";
  readonly detail: string;
}

const timeoutMs = 5_000;
const shownMax = 10;

/** Nothing for callers who may not read them. */
export async function tokensCheck(context: Context): Promise<readonly TokensCheck[]> {
  const name = "machines";
  try {
    const tokens = await (await context.client()).listServiceTokens({}, { timeoutMs });
    const now = context.clock.now();
    const good = tokens.filter((one) => one.revoked_at === undefined && leftMs(one.expires_at, now) > 0);
    const all = good.filter(({ funds }) => funds === undefined).map((one) => `${one.name} (${one.id})`);
    if (all.length === 0) return [{ name, state: "ok", detail: `${good.length} tokens, each names its funds` }];
    const more = all.length > shownMax ? ` and ${all.length - shownMax} more` : "";
    const detail = `may speak of every fund: ${all.slice(0, shownMax).join(", ")}${more}; \`ctl auth tokens issue NAME --fund FUND_ID\` makes one that may not`;
    return [{ name, state: "ok", detail }];
  } catch (error) {
    const { exit, detail } = await failureOf(error);
    return exit === exitCodes.unavailable ? [{ name, state: "warn", detail: `not known: ${detail}` }] : [];
  }
}
