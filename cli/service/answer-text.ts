import { CliError, EXIT } from "../exit-codes";

/** Far more than the longest answer of the service: a page of events with all they hold. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** The text of an answer of `server`. Throws CliError for one without end, and what `fetch` throws for one that broke off. */
export async function readText({ body }: Response, server: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) {
      throw new CliError(
        EXIT.execution,
        `${server} answered more than this service ever does. Is the address right?`,
      );
    }
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
