// Somebody with a login and the documents who tries to get past a limit, a halt, a loss or the books of a running paper platform, over HTTP.
import { openPaperFixture, type PaperFixture } from "../crash-rounds/paper-fixture.ts";
import { type Flow, provenFlow } from "../granted-proof.ts";
import { fetchOnNewConnection } from "../http/fetch-on-new-connection.ts";
import { logInAs, operatorUrl } from "../login.ts";
import { eventually } from "../platform.ts";

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  /** Its code when it was refused, else empty. */
  readonly code: string;
}

export interface Attacker {
  readonly fixture: PaperFixture;
  ask(method: string, path: string, body?: object): Promise<Answer>;
  /** A deposit or a withdrawal by somebody who has the second factor as well. */
  flow(flow: Flow): Promise<Answer>;
  /** Hands an order in and waits until it is decided: the code it was refused with, or its state. */
  order(order: AskedOrder): Promise<{ readonly id: string; readonly said: string }>;
  /** What the engine takes the fund to hold, and what may still be bought and sold. */
  exposure(fundId: string, symbol: string): Promise<Exposure>;
  close(): Promise<void>;
}

export interface AskedOrder {
  readonly fund_id: string;
  readonly strategy_id: string;
  readonly symbol: string;
  readonly side: string;
  readonly quantity: string;
  readonly asset_class: string;
  readonly order_type?: string;
  readonly limit_price?: string;
  readonly reduce_only?: boolean;
}

export interface Exposure {
  readonly quantity: number;
  readonly pendingBuy: number;
  readonly pendingSell: number;
}

const settleMsMax = 60_000;

/** Strategies decide next to never, so that what happens is the attacker's doing. */
const configuration = `
research: { decide_every_s: 3600 }
lifecycle: { restart_backoff_first_ms: 50, restart_backoff_max_ms: 200, restart_failures_max: 1000 }
`;

export async function openAttacker(name: string): Promise<Attacker> {
  const fixture = await openPaperFixture(name, configuration);
  let count = 0;
  let token = { text: "", untilMs: 0 };

  /** One login lasts for a while: asking for another each time would be slowed down. */
  async function bearer(): Promise<string> {
    if (Date.now() > token.untilMs) {
      const { access_token: text, expires_in } = await logInAs(fixture.platform(), "duty");
      token = { text, untilMs: Date.now() + expires_in * 500 };
    }
    return token.text;
  }

  async function ask(method: string, path: string, body?: object): Promise<Answer> {
    const answer = await fetchOnNewConnection(operatorUrl(fixture.platform()) + path, {
      method,
      headers: {
        authorization: `Bearer ${await bearer()}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const reported = (await answer.json()) as Record<string, unknown>;
    return {
      status: answer.status,
      body: reported,
      code: answer.ok ? "" : String(reported["code"] ?? reported["type"] ?? ""),
    };
  }

  return {
    fixture,
    ask,
    flow: async (flow) => ask("POST", "/v1/treasury/flows", await provenFlow(fixture.owner, await bearer(), flow)),
    async order(asked) {
      count += 1;
      const id = `attack-${count}`;
      const terms = { order_type: "MARKET", tif: "GTC", broker: "paper", actor: "attacker", ...asked };
      const handed = await ask("POST", "/v1/oms/orders", { ...terms, order_id: id, idempotency_key: id });
      if (handed.status >= 400) return { id, said: handed.code };
      let said = "";
      await eventually(
        `${id} is decided`,
        async () => {
          const { body } = await ask("GET", `/v1/oms/orders/${id}`);
          said = String(body["state"] === "REJECTED" ? body["code"] : body["state"]);
          return !["PENDING_CHECK", "ACCEPTED", "ROUTED"].includes(said);
        },
        settleMsMax,
      );
      return { id, said };
    },
    async exposure(fundId, symbol) {
      const { lines } = await fixture.ask<{
        lines: readonly Record<"fund_id" | "symbol" | "quantity" | "pending_buy" | "pending_sell", string>[];
      }>("RiskEngine", "ListExposures", {});
      const line = lines.find((one) => one.fund_id === fundId && one.symbol === symbol);
      return {
        quantity: Number(line?.quantity ?? 0),
        pendingBuy: Number(line?.pending_buy ?? 0),
        pendingSell: Number(line?.pending_sell ?? 0),
      };
    },
    close: () => fixture.close(),
  };
}
