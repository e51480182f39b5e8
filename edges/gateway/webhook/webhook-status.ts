// GET /v1/webhook: who takes alerts, from where, and how old each fund's secret is; never a secret.
// POST /v1/webhook/secrets/{fund_id}/rotate: a fund's secret, the first and every next one, shown once.
import { z } from "zod";
import { Fault } from "../../../contracts/src/fault.ts";
import type { Funds, ListFundsRequest } from "../../../contracts/src/generated/svc/v1/platform.ts";
import { format, type Instant } from "../../../contracts/src/instant.ts";
import { idText, lineText } from "../../../contracts/src/records/fields.ts";
import { typed } from "../../../contracts/src/text/typed.ts";
import type { HttpRequest, Route } from "../../../ports/http.ts";
import type { RotatedSecret, WebhookSecretState } from "../../../ports/webhook.ts";
import { answerTo } from "../answers.ts";
import { askService } from "../ask-service.ts";
import { callerOf, defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { timeText } from "../schemas/fields.ts";
import { proofText } from "../schemas/second-factor.ts";

type Parts = Pick<GatewayParts, "services" | "webhook">;

const fundAnswer = z.object({
  fund_id: idText,
  mode: z.string().meta({ description: "PAPER or LIVE." }),
  version: z.int().min(0).meta({ description: "The version of its secret; 0 when it has none and takes no alerts." }),
  rotated_at: timeText.optional().meta({ description: "When it was made; absent for one that was written elsewhere." }),
  previous_valid_until: timeText.optional().meta({ description: "Until when one before it is good as well." }),
});

const statusAnswer = z.object({
  source_addresses: z.array(z.string()).meta({ description: "From where alerts are taken; nobody when empty." }),
  trusted_proxies: z.array(z.string()).meta({ description: "Whose X-Forwarded-For counts." }),
  host: z.string().meta({ description: "Where the public port listens." }),
  untrusted_proxy: z
    .object({ address: z.string(), last_seen_at: timeText })
    .optional()
    .meta({ description: "The newest that sent an alert on behalf of a listed address and is not trusted." }),
  funds: z.array(fundAnswer),
});

export function webhookStatus(parts: Parts): Route {
  return defineRoute({
    id: "getWebhookStatus",
    method: "GET",
    path: "/v1/webhook",
    listeners: ["operator"],
    sentence: "Get who takes alerts, from where, and how old each fund's secret is.",
    operation: "ReadWebhookStatus",
    answers: { 200: statusAnswer },
    handle: async (request) => {
      const funds = await fundsOf(parts, request);
      const { webhook } = parts;
      const states = await Promise.all(funds.map(({ fund_id }) => webhook.secrets.stateOf(fund_id)));
      const proxy = webhook.untrustedProxy();
      return {
        status: 200,
        body: {
          source_addresses: webhook.sourceAddresses,
          trusted_proxies: webhook.trustedProxies,
          host: webhook.host,
          ...(proxy === undefined
            ? {}
            : { untrusted_proxy: { address: proxy.address, last_seen_at: format(proxy.at) } }),
          funds: states.map((state, at) => ({ ...stateJson(state), mode: funds[at]?.mode ?? "" })),
        },
      };
    },
  });
}

const dayS = 86_400;

const rotateBody = z.strictObject({
  overlap_s: z
    .int()
    .min(0)
    .max(7 * dayS)
    .meta({ description: "Seconds for which the secret before it stays good, up to a week; 900 is usual." }),
  reason: typed(lineText(500).min(1)).meta({ description: "Why, in your words; it stands in the record." }),
  step_up_proof: proofText.optional(),
});

const rotatedAnswer = z.object({
  fund_id: idText,
  secret: z.string().meta({ description: "The secret itself, shown now and never again." }),
  version: z.int(),
  previous_valid_until: timeText.optional().meta({ description: "Until when the one before is good as well." }),
});

export function webhookSecretRotate(parts: Parts): Route {
  return defineRoute({
    id: "rotateWebhookSecret",
    method: "POST",
    path: "/v1/webhook/secrets/:fund_id/rotate",
    listeners: ["operator"],
    sentence:
      "Make a new webhook secret for a fund; its value is shown once, and the one before stays good for a while.",
    operation: "RotateWebhookSecret",
    params: z.strictObject({ fund_id: idText }),
    body: rotateBody,
    answers: { 201: rotatedAnswer },
    answersSecret: {},
    handle: async (request) => {
      const { fund_id: fundId } = request.params;
      const { overlap_s: overlapS, reason, step_up_proof: proof } = request.body;
      const funds = await fundsOf(parts, request);
      if (!funds.some(({ fund_id }) => fund_id === fundId)) {
        throw new Fault("NOT_FOUND", `There is no fund ${JSON.stringify(fundId)}.`, { retry: "never" });
      }
      const asked = { fundId, overlapS, reason };
      return answerTo(await parts.webhook.secrets.rotate(callerOf(request), asked, proof), 201, rotatedJson);
    },
  });
}

async function fundsOf(parts: Parts, request: HttpRequest): Promise<Funds["funds"]> {
  const question = { service: "Treasury", method: "ListFunds", message: {} } as const;
  const outcome = await askService<ListFundsRequest, Funds>(parts, { ...request, idempotency: undefined }, question);
  if (outcome.ok) return outcome.value.funds;
  throw new Fault("SERVICE_UNAVAILABLE", `The funds cannot be listed: ${outcome.denial.reason}`, { retry: "later" });
}

function rotatedJson({ fundId, secret, version, previousValidUntil }: RotatedSecret) {
  return { fund_id: fundId, secret, version, ...until(previousValidUntil) };
}

function stateJson({ fundId, version, rotatedAt, previousValidUntil }: WebhookSecretState) {
  return {
    fund_id: fundId,
    version,
    ...(rotatedAt === undefined ? {} : { rotated_at: format(rotatedAt) }),
    ...until(previousValidUntil),
  };
}

function until(at: Instant | undefined) {
  return at === undefined ? {} : { previous_valid_until: format(at) };
}
