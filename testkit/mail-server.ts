// A mail server of our own for tests: it takes messages over SMTP as far as one client needs it, and can be made to refuse, to be silent, to lose its
// answer, or to refuse one recipient.
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

export interface TakenMail {
  readonly recipients: readonly string[];
  /** As it came over the wire. */
  readonly raw: string;
  readonly messageId: string;
}

export interface MailServer {
  readonly port: number;
  /** What was taken, in order. */
  readonly mails: TakenMail[];
  /** "lost" takes the message and breaks the connection before it says so. */
  mood: "well" | "refuse" | "silence" | "lost";
  close(): Promise<void>;
}

export interface MailServerOptions {
  readonly user?: string;
  readonly password?: string;
  readonly refusedRecipient?: string;
  /** Any free one when absent; a server that is to come back is given its own. */
  readonly port?: number;
}

export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const state: Pick<MailServer, "mails" | "mood"> = { mails: [], mood: "well" };
  const refusal = (text: string, responseCode: number): Error => Object.assign(new Error(text), { responseCode });
  const server = new SMTPServer({
    logger: false,
    authOptional: options.user === undefined,
    allowInsecureAuth: true,
    disabledCommands: options.user === undefined ? ["STARTTLS", "AUTH"] : ["STARTTLS"],
    closeTimeout: 100,
    onAuth: ({ username, password }, _session, callback) =>
      username === options.user && password === options.password
        ? callback(null, { user: username })
        : callback(refusal("no", 535)),
    onMailFrom: (_address, _session, callback) => {
      if (state.mood === "silence") return;
      callback(state.mood === "refuse" ? refusal("not now", 451) : null);
    },
    onRcptTo: ({ address }, _session, callback) =>
      callback(address === options.refusedRecipient ? refusal("unknown", 550) : null),
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        const raw = Buffer.concat(chunks).toString("latin1");
        const messageId = /^message-id:\s*<([^>]+)>/im.exec(raw)?.[1] ?? "";
        state.mails.push({ recipients: session.envelope.rcptTo.map(({ address }) => address), raw, messageId });
        if (state.mood === "lost") for (const connection of server.connections) connection.close();
        else callback(null);
      });
    },
  });
  server.on("error", () => undefined);
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const { port } = server.server.address() as AddressInfo;
  return Object.assign(state, {
    port,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  });
}
