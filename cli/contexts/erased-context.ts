import type { ContextUpload } from "../../src/protocol/api/contexts";
import type { Io } from "../io";
import { refusalWith, type RequestContext } from "../service/problem";
import { readContextIfAny, type UploadInput, uploadContext } from "./context-client";

/**
 * Uploads as `uploadContext` does. If the context was erased, its old base can never be the newest
 * version again. Then the context is created again, and the output says so. Throws CliError.
 */
export async function uploadOrRecreate(
  name: string,
  input: UploadInput,
  connection: RequestContext,
  { stderr }: Pick<Io, "stderr">,
): Promise<ContextUpload> {
  try {
    return await uploadContext(name, input, connection);
  } catch (error) {
    const isErased =
      typeof input.base === "string" &&
      refusalWith("context_changed", error) !== null &&
      (await readContextIfAny(name, connection)) === null;
    if (!isErased) throw error;
    stderr.write(`The context ${name} was erased. This push creates it again.\n`);
    return uploadContext(name, { ...input, base: null, leftOut: [] }, connection);
  }
}
