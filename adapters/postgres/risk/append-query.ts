// A call of one of our SQL functions, sent as bytes that are ready for the wire: for statements that everybody waits for. The driver's own way
// builds the same message from values: it copies a batch several times and describes the answer anew with each.
import pg from "pg";

/** A statement that the server prepares once per connection. */
export interface Call {
  readonly name: string;
  readonly text: string;
}

export const appendName = "risk_append";
const riskAppend: Call = { name: appendName, text: "select risk_append($1, $2, $3)" };

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
export function sendCall(client: pg.Client, call: Call, message: Uint8Array): Promise<string> {
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

/** Resolves with the newest number of the journal when the batch is durable. */
export async function sendAppend(client: pg.Client, message: Uint8Array): Promise<bigint> {
  return BigInt(await sendCall(client, riskAppend, message));
}
