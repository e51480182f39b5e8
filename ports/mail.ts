// Mail: how a report reaches people who have no login. The default writes messages as files; the real one is a mail server.
//
// What every adapter promises (testkit/conformance/mail.ts):
//  1. `send` resolves when the server has taken the message for at least one recipient, with those for whom it has not; it rejects with MAIL_UNAVAILABLE
//     when it has taken it for nobody.
//  2. A server is never waited for longer than `deadlineMs`, and no connection stays behind.
//  3. The message carries the `messageId` that it was given: whoever gets it twice, because a crash came between sending and recording, sees that it is one.
//  4. Nothing in subject, text or names can add a header, a recipient or an attachment.
//  5. Attachments of more than 10 MB together (`mailAttachmentBytesMax`) are refused with INVALID_ARGUMENT before anything is sent.
export interface MailMessage {
  /** Without angle brackets: run.abc@portcullis.example. */
  readonly messageId: string;
  readonly subject: string;
  readonly text: string;
  readonly attachments: readonly {
    readonly name: string;
    readonly contentType: string;
    readonly content: Uint8Array;
  }[];
}

export interface Mail {
  readonly name: string;
  send(message: MailMessage, deadlineMs: number): Promise<{ readonly refused: readonly string[] }>;
  close(): Promise<void>;
}
