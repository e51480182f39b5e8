// Mail without a mail server: each message is a file that any mail program opens, named by its Message-ID, so that one is never there twice.
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import type { Mail } from "../../ports/mail.ts";
import { type MailAddresses, partsOf } from "./message-parts.ts";

interface FileMailOptions extends MailAddresses {
  readonly folder: string;
}

export function fileMail({ folder, from, to }: FileMailOptions): Mail {
  const composer = createTransport({ streamTransport: true, buffer: true, newline: "windows" });
  return {
    name: "file",
    async send(message) {
      const parts = partsOf(message, { from, to });
      const path = join(folder, `${message.messageId}.eml`);
      const draft = `${path}.new`;
      try {
        const composed = await composer.sendMail(parts);
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeFile(draft, composed.message as Buffer, { mode: 0o600, flush: true });
        await rename(draft, path);
      } catch (thrown) {
        await rm(draft, { force: true }).catch(() => undefined);
        const sentence = `A mail could not be written to ${folder}: ${messageOf(thrown)}.`;
        throw new Fault("MAIL_UNAVAILABLE", sentence, { retry: "later", cause: thrown });
      }
      return { refused: [] };
    },
    close: async () => composer.close(),
  };
}
