// Mail by a mail server: one connection for each message, which ends with it or at its deadline. The password is asked for each time, so that a new
// one needs no restart; nothing that the server or the library says reaches a log with it.
import { createConnection, type Socket } from "node:net";
import { createTransport, type SMTPTransportOptions } from "nodemailer";
import { Fault } from "../../contracts/src/fault.ts";
import type { Mail } from "../../ports/mail.ts";
import type { Timers } from "../../ports/timers.ts";
import { type MailAddresses, partsOf } from "./message-parts.ts";

export interface SmtpMailOptions extends MailAddresses {
  readonly timers: Timers;
  readonly host: string;
  readonly port: number;
  /** `starttls` must succeed before anything is said; `none` is clear text. */
  readonly tls: "starttls" | "implicit" | "none";
  readonly user: string | undefined;
  password(): Promise<string | undefined>;
}

export function smtpMail(options: SmtpMailOptions): Mail {
  const { host, port, tls, timers } = options;
  const sockets = new Set<Socket>();

  async function transported(open: () => Socket, deadlineMs: number) {
    const timeouts = { connectionTimeout: deadlineMs, greetingTimeout: deadlineMs, socketTimeout: deadlineMs };
    const settings: SMTPTransportOptions = {
      host,
      port,
      ...timeouts,
      secure: tls === "implicit",
      requireTLS: tls === "starttls",
      ignoreTLS: tls === "none",
      tls: { servername: host, minVersion: "TLSv1.2" },
      ...(await loginOf(options)),
      getSocket: (_asked, callback) => {
        const socket = open();
        const failed = (error: Error) => callback(error);
        socket.once("error", failed);
        socket.once("connect", () => {
          socket.off("error", failed);
          callback(null, { connection: socket });
        });
      },
    };
    return createTransport(settings);
  }

  return {
    name: "smtp",
    async send(message, deadlineMs) {
      const parts = partsOf(message, options);
      const late = new AbortController();
      let socket: Socket | undefined;
      const open = (): Socket => {
        socket = createConnection({ host, port, signal: late.signal });
        // Whoever waits for the message hears it from the library; an error that comes later is nobody's.
        socket.on("error", () => undefined);
        sockets.add(socket);
        return socket;
      };
      const cancel = timers.after(deadlineMs, () => late.abort());
      try {
        const transport = await transported(open, deadlineMs);
        const sent = await transport.sendMail(parts);
        return { refused: sent.rejected.map(String) };
      } catch (thrown) {
        throw unavailable(late.signal.aborted ? "it did not answer in time" : why(thrown));
      } finally {
        cancel();
        if (socket !== undefined) sockets.delete(socket.destroy());
      }
    },
    async close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function loginOf({ user, password }: SmtpMailOptions) {
  if (user === undefined) return {};
  const pass = await password();
  if (pass === undefined) throw unavailable("there is no password for it among the secrets");
  return { auth: { user, pass } };
}

/** By what the library names it: what it says may repeat what was sent. */
function why(thrown: unknown): string {
  if (thrown instanceof Fault) return thrown.message;
  const { code, responseCode } = (thrown ?? {}) as { code?: unknown; responseCode?: unknown };
  if (typeof responseCode === "number") return `it answered with ${responseCode}`;
  if (code === "EAUTH") return "it did not take our login";
  if (code === "ETLS") return "it does not speak TLS as it must";
  return `it cannot be reached (${typeof code === "string" ? code : "no reason is known"})`;
}

function unavailable(reason: string): Fault {
  const sentence = reason.startsWith("The mail server") ? reason : `The mail server did not take a message: ${reason}.`;
  return new Fault("MAIL_UNAVAILABLE", sentence, { retry: "later" });
}
