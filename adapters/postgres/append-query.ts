// The one statement that every decision waits for, sent as bytes that are ready for the wire. The driver's own way builds the same message
// from values: it copies a batch several times and describes the answer anew with each.
import pg from "pg";

export const appendName = "risk_append";
const appendText = "select risk_append($1, $2, $3)";

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
  parse(statement: { readonly name: string; readonly text: string }): void;
}

const Query = pg.Query as unknown as new (config: { readonly name: string; readonly text: string }) => DriverQuery;

class AppendQuery extends Query {
  private readonly message: Uint8Array;
  /** The newest number of the journal, as the server wrote it. */
  newest = "";

  constructor(message: Uint8Array) {
    super({ name: appendName, text: appendText });
    this.message = message;
  }

  override submit(connection: DriverConnection): null {
    const { stream, parsedStatements, submittedNamedStatements } = connection;
    stream.cork();
    try {
      if (parsedStatements[appendName] === undefined && submittedNamedStatements[appendName] === undefined) {
        connection.parse({ name: appendName, text: appendText });
        submittedNamedStatements[appendName] = appendText;
      }
      stream.write(this.message);
    } finally {
      stream.uncork();
    }
    return null;
  }

  override handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.newest = fields[0] ?? "";
  }
}

/** Resolves with the newest number of the journal when the batch is durable. */
export function sendAppend(client: pg.Client, message: Uint8Array): Promise<bigint> {
  return new Promise((resolve, reject) => {
    const query = new AppendQuery(message);
    query.callback = (error) => (error === null ? resolve(BigInt(query.newest)) : reject(error));
    client.query(query as unknown as pg.Query);
  });
}
