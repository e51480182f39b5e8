// A simulated venue with a file of its own. An order is known by the client's id: the same id twice is one order.
import { appendFileSync, existsSync, readFileSync } from "node:fs";

interface Line {
  readonly order_id: string;
  readonly what: "SUBMITTED" | "FILLED" | "CANCELLED";
}

export class Venue {
  readonly #path: string;
  readonly #lines: Line[];

  constructor(path: string) {
    this.#path = path;
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    this.#lines = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Line]));
  }

  knows(orderId: string): boolean {
    return this.#lines.some(({ order_id: id }) => id === orderId);
  }

  /** A market order trades at once, at this price; a limit order rests. */
  submit(order: { readonly order_id: string; readonly limit_price?: string }, price: number): number | undefined {
    if (!this.knows(order.order_id)) this.#write(order.order_id, "SUBMITTED");
    if (order.limit_price !== undefined) return undefined;
    this.#write(order.order_id, "FILLED");
    return price;
  }

  cancel(orderId: string): void {
    this.#write(orderId, "CANCELLED");
  }

  #write(orderId: string, what: Line["what"]): void {
    const line: Line = { order_id: orderId, what };
    this.#lines.push(line);
    appendFileSync(this.#path, `${JSON.stringify(line)}\n`, { flush: true });
  }
}
