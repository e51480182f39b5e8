// A message as the mail library takes it. Whatever comes from elsewhere is one line of text, so that nothing can begin a header of its own.
import type { SendMailOptions } from "nodemailer";
import { Fault } from "../../contracts/src/fault.ts";
import { mailAttachmentBytesMax } from "../../contracts/src/records/report-schedule.ts";
import { clean } from "../../contracts/src/text/clean.ts";
import type { MailMessage } from "../../ports/mail.ts";

export interface MailAddresses {
  readonly from: string;
  readonly to: readonly string[];
}

const idForm = /^[A-Za-z0-9._-]{1,128}@[A-Za-z0-9.-]{1,200}$/;
const line = (text: string, lengthMax: number): string => clean(clean(text).slice(0, lengthMax));
/** Its own lines are the only ones that it has. */
const lines = (text: string): string => text.split("\n").map(clean).join("\n");

/** Throws INVALID_ARGUMENT for what must not be sent. */
export function partsOf(message: MailMessage, { from, to }: MailAddresses): SendMailOptions {
  const bytes = message.attachments.reduce((sum, { content }) => sum + content.byteLength, 0);
  if (bytes > mailAttachmentBytesMax) {
    throw refused(`At most ${mailAttachmentBytesMax} bytes may be attached; these are ${bytes}. Name a link instead.`);
  }
  if (!idForm.test(message.messageId)) throw refused("The Message-ID is none such as run.abc@portcullis.example.");
  return {
    from,
    to: [...to],
    messageId: `<${message.messageId}>`,
    subject: line(message.subject, 300),
    text: lines(message.text),
    attachments: message.attachments.map(({ name, contentType, content }) => ({
      filename: line(name, 200),
      contentType: line(contentType, 100),
      content: Buffer.from(content),
    })),
    // Nothing in a message is a path or an address to read from.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

const refused = (sentence: string): Fault => new Fault("INVALID_ARGUMENT", sentence, { retry: "never" });
