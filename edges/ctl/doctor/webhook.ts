// The check of `ctl doctor` on the charting webhook: which funds take alerts, how old their secrets are, and whether alerts can come in at all.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { millisecondsBetween, tryParse } from "../../../contracts/src/instant.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { failureOf } from "../failure.ts";
import { moment } from "../text/text.ts";
import type { Context } from "../verbs/verb.ts";

interface WebhookCheck {
  readonly name: "webhook";
  readonly state: "ok" | "warn";
  readonly detail: string;
  readonly advice?: string;
}

const timeoutMs = 5_000;
const secretMsMax = 90 * 86_400_000;

type Status = AnswerOf<"getWebhookStatus">;

/** Nothing for callers who may not read it, and of servers that have none. */
export async function webhookCheck(context: Context): Promise<readonly WebhookCheck[]> {
  const name = "webhook";
  try {
    const status = await (await context.client()).getWebhookStatus({}, { timeoutMs });
    const said = judged(status, context);
    return [{ name, state: said.advice === undefined ? "ok" : "warn", ...said }];
  } catch (error) {
    const { exit, detail } = await failureOf(error);
    return exit === exitCodes.unavailable ? [{ name, state: "warn", detail: `not known: ${detail}` }] : [];
  }
}

function judged(status: Status, context: Context): Pick<WebhookCheck, "detail" | "advice"> {
  const now = context.clock.now();
  const [taking, others] = [
    status.funds.filter(({ version }) => version > 0),
    status.funds.filter(({ version }) => version === 0),
  ];
  const without = others.length === 0 ? "" : `; no secret: ${others.map(({ fund_id }) => fund_id).join(", ")}`;
  if (taking.length === 0) return { detail: `no fund takes alerts${without}` };
  const detail = `${taking.map(({ fund_id }) => fund_id).join(", ")} ${taking.length === 1 ? "takes" : "take"} alerts${without}`;
  const proxy = status.untrusted_proxy;
  if (proxy !== undefined) {
    return {
      detail: `an alert of a listed address came through ${proxy.address}, ${moment(proxy.last_seen_at, now)}, and was refused: that proxy is not trusted`,
      advice: `Name it in http.trusted_proxies (PORTCULLIS_TRUSTED_PROXIES=${proxy.address}) if it is yours.`,
    };
  }
  if (status.source_addresses.length === 0) {
    return {
      detail: `${detail}; tradingview.source_addresses is empty`,
      advice: "Nobody's alerts are taken: name the senders' addresses.",
    };
  }
  const old = taking.filter(({ rotated_at }) => {
    const at = tryParse(rotated_at ?? "");
    return at !== undefined && millisecondsBetween(at, now) > secretMsMax;
  });
  if (old.length > 0) {
    const ids = old.map(({ fund_id }) => fund_id);
    const advice = `ctl signals rotate-secret --fund-id ${ids[0] ?? ""} --reason "older than 90 days"`;
    return { detail: `${detail}; older than 90 days: ${ids.join(", ")}`, advice };
  }
  const local = status.source_addresses.every((address) => isThisMachine(address));
  if (isThisMachine(status.host) && status.trusted_proxies.length === 0 && !local) {
    return {
      detail: `${detail}; the public port listens on ${status.host} alone and no proxy is trusted`,
      advice: "Put a proxy with TLS before it and name it in http.trusted_proxies: docs/webhook.md has one.",
    };
  }
  return { detail };
}

function isThisMachine(address: string): boolean {
  return address === "localhost" || address === "::1" || address.startsWith("127.");
}
