// Routes with an intake of their own: what the listener refuses about their body is answered in the route's words, in a fixed order, and within the time
// that their senders wait. Whoever sent too slowly gets 408; nobody ever gets 504.
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import { Fault } from "../../../contracts/src/fault.ts";
import type { Intake, IntakeCaller, IntakeRefusal, Listener } from "../../../ports/http.ts";
import { addressOf } from "../caller-address.ts";
import type { HttpPorts } from "../http-ports.ts";
import { encodingRefusal } from "../read-input.ts";
import { contextOf, sendAnswer, sendThrown } from "../replies.ts";
import { jsonFlawOffset, placeIn } from "./json-flaw.ts";
import { type JsonReader, strictJsonReader } from "./json-reader.ts";

interface IntakeParts {
  readonly listener: Listener;
  readonly ports: HttpPorts;
}

/** JSON in both: the charting platform writes the second when its check of the text finds a flaw. */
export const intakeTypes = ["application/json", "text/plain"];

type Refused = Pick<IntakeRefusal, "status" | "detail">;

/** The route with its own limits, readers and words; other routes of the listener keep theirs. */
export function mountIntake(app: FastifyInstance, intake: Intake, route: RouteOptions, parts: IntakeParts): void {
  void app.register((own, _options, done) => {
    own.removeContentTypeParser("application/json");
    const read = placingReader(strictJsonReader(own, parts.ports.timers));
    own.addContentTypeParser(intakeTypes, { parseAs: "buffer" }, read);
    own.route({
      ...route,
      bodyLimit: intake.bodyBytesMax,
      onRequest: (request, reply) => checkHead(intake, request, reply, parts),
      errorHandler: async (error, request, reply) => {
        const refused = refusedBy(error, intake);
        if (refused === undefined) sendThrown(error, request, reply, parts.listener, parts.ports);
        else await sendIntakeRefusal(intake, refused, request, reply, parts.listener);
        return reply;
      },
    });
    done();
  });
}

export async function sendIntakeRefusal(
  intake: Intake,
  refused: Refused,
  request: FastifyRequest,
  reply: FastifyReply,
  listener: Listener,
): Promise<FastifyReply> {
  const answer = await intake.refuse({ ...refused, ...callerOf(request) });
  if (reply.sent) return reply;
  // What is still on its way is not wanted.
  if (!request.raw.complete) reply.header("connection", "close");
  return sendAnswer(reply, answer, contextOf(request, listener));
}

function callerOf(request: FastifyRequest): IntakeCaller {
  const forwarded = request.headers["x-forwarded-for"];
  return { requestId: request.id, remoteAddress: addressOf(request), forwardedFor: forwarded?.toString() };
}

async function checkHead(
  intake: Intake,
  request: FastifyRequest,
  reply: FastifyReply,
  { listener, ports }: IntakeParts,
): Promise<FastifyReply | undefined> {
  const refuse = (refused: Refused) => sendIntakeRefusal(intake, refused, request, reply, listener);
  if (Number(request.headers["content-length"] ?? 0) > intake.bodyBytesMax) return refuse(tooLarge(intake));
  if (!intake.admits(callerOf(request))) {
    return refuse({ status: 403, detail: `${addressOf(request)} is not an address that alerts are taken from.` });
  }
  const encoded = encodingRefusal(request.headers);
  if (encoded !== undefined) return refuse({ status: 415, detail: encoded });
  const cancel = ports.timers.after(intake.answerMsMax, () => {
    if (reply.sent) return;
    // It is answered or thrown away: nobody waits for this promise.
    void refuse(request.raw.complete ? noAnswer : tooSlow).catch((thrown: unknown) =>
      sendThrown(thrown, request, reply, listener, ports),
    );
  });
  reply.raw.once("close", cancel);
  return undefined;
}

const noAnswer: Refused = { status: 503, detail: "There was no answer in time; send it again." };
const tooSlow: Refused = { status: 408, detail: "The request did not arrive in time." };

function tooLarge({ bodyBytesMax }: Intake): Refused {
  return { status: 413, detail: `The body may have ${bodyBytesMax} bytes.` };
}

/** What the listener itself had against the request; undefined for what went wrong on our side. */
function refusedBy(error: unknown, intake: Intake): Refused | undefined {
  if (error instanceof Fault) {
    return error.code === "INVALID_ARGUMENT" ? { status: 400, detail: error.message } : undefined;
  }
  const { statusCode, message } = error as { readonly statusCode?: number; readonly message: string };
  if (statusCode === 400) return { status: 400, detail: message };
  if (statusCode === 413) return tooLarge(intake);
  if (statusCode !== 415) return undefined;
  return { status: 415, detail: "The body must be application/json or text/plain, and JSON in both." };
}

/** Says where in the body it stands. */
function placingReader(read: JsonReader): JsonReader {
  return (request, body, done) => {
    try {
      read(request, body, (error, value) => done(error === null ? null : flawOf(body), value));
    } catch (thrown) {
      done(thrown instanceof Fault ? placed(thrown, body) : (thrown as Error));
    }
  };
}

function flawOf(body: Buffer): Fault {
  const text = body.toString("utf8");
  const offset = jsonFlawOffset(text);
  // JSON that the library refuses has one of the names that would reach behind an object.
  const reserved = Math.max(0, text.search(/"(?:__proto__|constructor|[^"]*\\u)/));
  const detail =
    offset === undefined
      ? `A member has a name that is not taken here, at or after ${placeIn(text, reserved)}.`
      : `The body is no JSON at ${placeIn(text, offset)}: a quotation mark, a comma, a colon or a brace is missing or too many there.`;
  return new Fault("INVALID_ARGUMENT", detail, { retry: "never" });
}

function placed(refused: Fault, body: Buffer): Fault {
  const { offset, byteOffset } = refused.facts;
  // Before what is no UTF-8 everything is.
  const before = typeof byteOffset === "number" ? body.subarray(0, byteOffset).toString("utf8") : undefined;
  const text = before ?? body.toString("utf8");
  const at = before?.length ?? (typeof offset === "number" ? offset : 0);
  const detail = `${refused.message.replace(/\.$/, "")}, at ${placeIn(text, at)}.`;
  return new Fault("INVALID_ARGUMENT", detail, { retry: "never", cause: refused });
}
