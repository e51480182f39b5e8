// A call of one of our SQL functions, sent as bytes that are ready for the wire: for statements that everybody waits for. The driver's own way
// builds the same message from values: it copies a batch several times and describes the answer anew with each.
import pg from "pg";

/** A statement that the server prepares once per connection. */
export interface Call {
  readonly name: string;
  readonly text: string;
}

/** What the driver's class has and its types do not say. */
interface DriverQuery {
  callback: (error: Error | null) => void;
  submit(connection: DriverConnection): Error | null;
  handleDataRow(message: { readonly fields: readonly (string | null)[] }): void;
}

interface DriverConnection {
  readonly stream: { cork(): void; uncork(): void; write(bytes: Uint8Array): boolean };
  readonly parsedStatements: Readonly<Record<string, string | undefined>>;
  readonly submittedNamedStatements: Record<string, string | undefined>;
  parse(statement: Call): void;
}

const Query = pg.Query as unknown as new (config: Call) => DriverQuery;

class CallQuery extends Query {
  private readonly call: Call;
  private readonly message: Uint8Array;
  /** What the function gave, as the server wrote it. */
  answer = "";

  constructor(call: Call, message: Uint8Array) {
    super(call);
    this.call = call;
    this.message = message;
  }

  override submit(connection: DriverConnection): null {
    const { name, text } = this.call;
    const { stream, parsedStatements, submittedNamedStatements } = connection;
    stream.cork();
    try {
      if (parsedStatements[name] === undefined && submittedNamedStatements[name] === undefined) {
        connection.parse(this.call);
        submittedNamedStatements[name] = text;
      }
      stream.write(this.message);
    } finally {
      stream.uncork();
    }
    return null;
  }

  override handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.answer = fields[0] ?? "";
  }
}

/** Resolves with the one value that the function gives, when the call is durable. The message binds to the call's name. */
export function sendPrepared(client: pg.Client, call: Call, message: Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const query = new CallQuery(call, message);
    const waiting: Waiting = { query, resolve, reject };
    query.callback = (error) => settle(waiting, error);
    client.query(query as unknown as pg.Query);
  });
}

interface Waiting {
  query: CallQuery | undefined;
  resolve: ((answer: string) => void) | undefined;
  reject: ((error: Error) => void) | undefined;
}

/**
 * A function on an object of the driver's is remembered with the shape of such objects until the next full round of the garbage collector. It
 * must not hold everybody who waited for the call until then, so it lets go of them here.
 */
function settle(waiting: Waiting, error: Error | null): void {
  const { query, resolve, reject } = waiting;
  waiting.query = undefined;
  waiting.resolve = undefined;
  waiting.reject = undefined;
  if (error !== null) reject?.(error);
  else if (query !== undefined) resolve?.(query.answer);
}

/** The same through the driver's interface: it writes the parameters again, each as the bytes that it is. */
export async function sendByInterface(client: pg.Client, { name, text }: Call, message: Uint8Array): Promise<string> {
  const { rows } = await client.query({ name, text, values: parametersOf(Buffer.from(message)), rowMode: "array" });
  return String((rows as unknown as readonly (readonly unknown[])[])[0]?.[0] ?? "");
}

/** What the message binds: a portal and a statement, each ended by a zero; formats; then each parameter behind its length. */
function parametersOf(message: Buffer): (Buffer | null)[] {
  const portalEnd = message.indexOf(0, 5);
  const formatsAt = message.indexOf(0, portalEnd + 1) + 1;
  let at = formatsAt + 2 + 2 * message.readInt16BE(formatsAt);
  const count = message.readInt16BE(at);
  at += 2;
  return Array.from({ length: count }, () => {
    const length = message.readInt32BE(at);
    const from = at + 4;
    at = from + Math.max(length, 0);
    return length < 0 ? null : message.subarray(from, at);
  });
}
