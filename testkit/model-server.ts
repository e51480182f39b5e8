// A language model of our own for tests: an endpoint that speaks OpenAI's chat completions and answers what the test says.
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface ModelRequest {
  readonly authorization: string | undefined;
  readonly body: {
    readonly model?: string;
    readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
  };
}

/** The text of the answer; a number is an HTTP status; "silence" never answers. */
export type ModelReply = string | number | "silence";

export interface ModelServer {
  readonly url: string;
  readonly requests: ModelRequest[];
  close(): Promise<void>;
}

export async function startModelServer(reply: (request: ModelRequest) => ModelReply): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  const server: Server = createServer((incoming, outgoing) => {
    // Whoever only asks whether it is there (a watchdog's look) asks for the list of models, without a body.
    if (incoming.method === "GET") {
      outgoing.setHeader("content-type", "application/json");
      outgoing.end(JSON.stringify({ object: "list", data: [] }));
      return;
    }
    void bodyOf(incoming).then((text) => {
      if (text === undefined) return;
      const request: ModelRequest = { authorization: incoming.headers.authorization, body: JSON.parse(text) };
      requests.push(request);
      const said = reply(request);
      if (said === "silence") return;
      outgoing.setHeader("content-type", "application/json");
      if (typeof said === "number") {
        outgoing.writeHead(said).end(JSON.stringify({ error: { message: "no" } }));
        return;
      }
      const choice = { index: 0, finish_reason: "stop", message: { role: "assistant", content: said } };
      const usage = { prompt_tokens: 1_000, completion_tokens: 50, total_tokens: 1_050 };
      outgoing.end(
        JSON.stringify({
          id: "1",
          object: "chat.completion",
          created: 1,
          model: request.body.model,
          choices: [choice],
          usage,
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Undefined where the asker went away before he had said everything. */
async function bodyOf(incoming: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
  } catch (thrown) {
    if (incoming.destroyed && !incoming.complete) return undefined;
    throw thrown;
  }
  return Buffer.concat(chunks).toString("utf8");
}
