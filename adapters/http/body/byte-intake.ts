// Routes that are handed their body as the bytes that came: whoever signs a body signs bytes, and JSON that was read and written again is other bytes. Each piece
// is shown to the route's reader as it comes, so that nothing is hashed at once and nothing is parsed before its signature is judged.
//
// The order is fixed: declared size, the caller, content type, size, then the route.
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import type { ByteIntake, BytesReader, HttpAnswer, IntakeCaller, Listener } from "../../../ports/http.ts";
import { addressOf } from "../caller-address.ts";
import type { HttpPorts } from "../http-ports.ts";
import { encodingRefusal } from "../read-input.ts";
import { contextOf, sendAnswer, sendThrown } from "../replies.ts";

interface ByteParts {
  readonly listener: Listener;
  readonly ports: HttpPorts;
}

class TooLarge extends Error {
  readonly statusCode = 413;
}

export function mountByteIntake(app: FastifyInstance, intake: ByteIntake, route: RouteOptions, parts: ByteParts): void {
  void app.register((own, _options, done) => {
    own.removeAllContentTypeParsers();
    own.addContentTypeParser("application/json", (request: FastifyRequest, payload: AsyncIterable<Uint8Array>) =>
      read(intake, request, payload),
    );
    own.route({
      ...route,
      bodyLimit: intake.bodyBytesMax,
      onRequest: (request, reply) => checkHead(intake, request, reply, parts),
      errorHandler: async (error, request, reply) => {
        const refused = refusedBy(intake, error);
        if (refused === undefined) sendThrown(error, request, reply, parts.listener, parts.ports);
        else send(refused, request, reply, parts.listener);
        return reply;
      },
    });
    done();
  });
}

async function checkHead(
  intake: ByteIntake,
  request: FastifyRequest,
  reply: FastifyReply,
  { listener, ports }: ByteParts,
): Promise<FastifyReply | undefined> {
  const refuse = (answer: HttpAnswer): FastifyReply => send(answer, request, reply, listener);
  if (Number(request.headers["content-length"] ?? 0) > intake.bodyBytesMax) return refuse(intake.refuse(413));
  const turnedAway = intake.admits(callerOf(request));
  if (turnedAway !== undefined) return refuse(turnedAway);
  // Without a type there is no reader, and without a body the library would look for none.
  if (request.headers["content-type"] === undefined) return refuse(intake.refuse(415));
  if (encodingRefusal(request.headers) !== undefined) return refuse(intake.refuse(415));
  const cancel = ports.timers.after(intake.answerMsMax, () => {
    if (!reply.sent) refuse(intake.refuse(request.raw.complete ? 503 : 408));
  });
  reply.raw.once("close", cancel);
  return undefined;
}

async function read(
  intake: ByteIntake,
  request: FastifyRequest,
  payload: AsyncIterable<Uint8Array>,
): Promise<BytesReader> {
  const reader = await intake.begin(callerOf(request));
  let bytes = 0;
  for await (const piece of payload) {
    bytes += piece.length;
    if (bytes > intake.bodyBytesMax) throw new TooLarge("the body is larger than it may be");
    reader.take(piece);
  }
  return reader;
}

function refusedBy(intake: ByteIntake, error: unknown): HttpAnswer | undefined {
  const { statusCode } = error as { readonly statusCode?: number };
  if (statusCode === 413 || statusCode === 415 || statusCode === 400) return intake.refuse(statusCode);
  return undefined;
}

function send(answer: HttpAnswer, request: FastifyRequest, reply: FastifyReply, listener: Listener): FastifyReply {
  if (reply.sent) return reply;
  // What is still on its way is not wanted.
  if (!request.raw.complete) reply.header("connection", "close");
  return sendAnswer(reply, answer, contextOf(request, listener));
}

function callerOf(request: FastifyRequest): IntakeCaller {
  const forwarded = request.headers["x-forwarded-for"];
  return { requestId: request.id, remoteAddress: addressOf(request), forwardedFor: forwarded?.toString() };
}
