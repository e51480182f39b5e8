// POST /githubbot/webhook: a delivery of GitHub's, from a stranger's bytes to a stored row; the work comes afterwards, in another process. The checks stand in one
// order and the first that says no answers: method, declared size, whoever was charged too much, content type, size (all of them by the listener,
// adapters/http/body/byte-intake.ts), signature, JSON, stored, answered.
import { z } from "zod";
import { messageOf } from "../../../contracts/src/fault.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { HttpAnswer, HttpRequest, Route } from "../../../ports/http.ts";
import { defineRoute } from "../define-route.ts";
import type { GatewayParts } from "../parts.ts";
import { deliveryFacts } from "./delivery-facts.ts";
import { type Forgeries, forgeries } from "./forgeries.ts";
import { type SignedBody, signedBody } from "./signed-body.ts";

export const bodyBytesMax = 1_048_576;
/** GitHub waits ten seconds. */
const answerMsMax = 8_000;
const retryAfterS = 5;

type Parts = Pick<GatewayParts, "githubbot" | "clock" | "log">;

const taken = z.object({
  delivery_id: z.string(),
  event: z.string(),
  status: z.enum(["accepted", "ignored", "duplicate"]),
});

export function githubWebhook(parts: Parts): Route {
  const charged = forgeries(() => parts.clock.now() / 1_000);
  return defineRoute({
    id: "receiveGithubDelivery",
    method: "POST",
    path: "/githubbot/webhook",
    listeners: ["public"],
    sentence: "Take in a delivery of GitHub's, under its signature.",
    operation: "ReceiveGithubDelivery",
    answers: { 200: taken, 202: taken },
    byteIntake: {
      bodyBytesMax,
      answerMsMax,
      admits: ({ remoteAddress }) => tooMany(charged.waitS(remoteAddress)),
      begin: async () => signedBody(await secretsOf(parts)),
      refuse,
    },
    handle: (request) => receive(parts, charged, request),
  });
}

/** None where the store does not answer: then no signature holds, and the answer says to come again. */
async function secretsOf({ githubbot, log }: Parts): Promise<readonly string[]> {
  try {
    return await githubbot.signingSecrets();
  } catch (thrown) {
    log.warn("the secret of GitHub's deliveries could not be read", { error: messageOf(thrown) });
    throw thrown;
  }
}

function tooMany(waitS: number | undefined): HttpAnswer | undefined {
  if (waitS === undefined) return undefined;
  const detail = `Too many deliveries without a good signature came from this address; try again in ${waitS} s.`;
  return { status: 429, body: { code: "RESOURCE_EXHAUSTED", detail }, headers: { "retry-after": String(waitS) } };
}

const refusals = {
  400: ["WEBHOOK_BODY_INVALID", "The body is not the JSON that GitHub sends."],
  408: ["DEADLINE_EXCEEDED", "The request did not arrive in time."],
  413: ["WEBHOOK_BODY_TOO_LARGE", `The body may have ${bodyBytesMax} bytes.`],
  415: ["WEBHOOK_CONTENT_TYPE", "The body must be application/json: set the content type of the webhook so."],
  503: ["SERVICE_UNAVAILABLE", "The delivery could not be stored; send it again."],
} as const;

function refuse(status: keyof typeof refusals): HttpAnswer {
  const [code, detail] = refusals[status];
  const headers = status === 503 ? { headers: { "retry-after": String(retryAfterS) } } : {};
  return { status, body: { code, detail }, ...headers };
}

const unsigned: HttpAnswer = {
  status: 401,
  body: {
    code: "WEBHOOK_SIGNATURE",
    detail: "No good signature of these bytes is in `signature` or `X-Hub-Signature-256`.",
  },
};

async function receive(parts: Parts, charged: Forgeries, request: HttpRequest): Promise<HttpAnswer> {
  const { remoteAddress, headers } = request;
  // Without a body nothing was read.
  const body = (request.body ?? signedBody([])) as SignedBody;
  const shown = [headers["signature"], headers["x-hub-signature-256"]].filter((each) => each !== undefined);
  // Each that is there must hold, and every one is compared.
  const held = shown.map((each) => typeof each === "string" && body.isSignedBy(each));
  if (held.length === 0 || held.includes(false)) {
    charged.charge(remoteAddress);
    return unsigned;
  }
  charged.know(remoteAddress);
  const document = readObject(body);
  if (document === undefined) return refuse(400);
  return keep(parts, request, body, document);
}

/** Undefined for what is no object in JSON. */
function readObject(body: SignedBody): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseJson(body.text());
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch (thrown) {
    if (thrown instanceof SyntaxError || thrown instanceof TypeError) return undefined;
    throw thrown;
  }
}

const idForm = /^[A-Za-z0-9-]{1,100}$/;
const eventForm = /^[a-z_]{1,60}$/;

async function keep(
  { githubbot, clock, log }: Parts,
  { headers, requestId }: HttpRequest,
  body: SignedBody,
  document: Readonly<Record<string, unknown>>,
): Promise<HttpAnswer> {
  const sha256 = body.sha256();
  const deliveryId = formed(headers["x-github-delivery"], idForm) ?? sha256;
  const read = deliveryFacts(formed(headers["x-github-event"], eventForm), document);
  const { event, repository } = read;
  try {
    const org = (await githubbot.installation())?.org.toLowerCase();
    // One App may be installed in several organisations; the bot works in one.
    const isOurs = org !== undefined && repository.toLowerCase().startsWith(`${org}/`);
    const isIgnored = read.isIgnored || !isOurs;
    const delivery = {
      deliveryId,
      bodySha256: sha256,
      event,
      repository,
      receivedAt: clock.now(),
      status: isIgnored ? ("IGNORED" as const) : ("ACCEPTED" as const),
      facts: isIgnored ? {} : read.facts,
    };
    const isNew = await githubbot.keepDelivery(delivery);
    const status = isNew ? (isIgnored ? "ignored" : "accepted") : "duplicate";
    return { status: isNew ? 202 : 200, body: { delivery_id: deliveryId, event, status } };
  } catch (thrown) {
    log.warn("a delivery of GitHub's could not be stored", { request_id: requestId, error: messageOf(thrown) });
    return refuse(503);
  }
}

function formed(value: string | readonly string[] | undefined, form: RegExp): string | undefined {
  return typeof value === "string" && form.test(value) ? value : undefined;
}
