import * as z from "zod";
import { lazy } from "../async/lazy";
import { inlineType, OCTETS } from "../workspace/content-type";
import type { Tree } from "../workspace/types";
import type { Call } from "./api-env";
import { ApiError } from "./errors";
import { header, type OperationResponse } from "./operation";

/**
 * Headers for files of users and agents, which may be hostile. No browser runs them: `nosniff`
 * makes the content type final, and none of the types that are sent is a script or a style. No
 * other origin can load them, and no page can frame them. The sandbox takes the service's origin
 * from a document that is opened directly.
 */
const FILE_HEADERS = {
  "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

export { OCTETS };
export const ZIP = "application/zip";

const binary = { schema: z.string().meta({ format: "binary" }) };
/** The response that sends one file, for the documentation. */
export const FILE_RESPONSE: OperationResponse = {
  description:
    "The contents. With `inline=1`: images as `image/png`, `image/jpeg`, `image/gif` or `image/webp`, and UTF-8 text as `text/plain`",
  content: { [OCTETS]: binary },
  headers: header("content-disposition", "`attachment` or `inline`, with the file name"),
};
/** The response that sends a zip, for the documentation. */
export const ZIP_RESPONSE: OperationResponse = {
  description: "The zip, created while it is sent",
  content: { [ZIP]: binary },
  headers: header("content-disposition", "`attachment` with the file name"),
};
/** How files are sent, for the documentation. */
export const FILE_DESCRIPTION =
  "Sent as a download with a neutral type, so that browsers do not show or run it. With `inline=1`, browsers show images and text in place; everything else is still a download.";

/** Query parameter of routes that send one file. */
export const INLINE = z.object({
  inline: z
    .literal("1")
    .optional()
    .describe(
      "`1`: send PNG, JPEG, GIF and WebP as they are and UTF-8 text as `text/plain`, for display in a browser. The contents decide, not the name. Default: every file is a download",
    ),
});

/** The response that sends one file as a download. `name`: the file name without folders. */
export const attachment = (
  context: Call,
  name: string,
  body: ReadableStream<Uint8Array>,
  type: string = OCTETS,
): Response =>
  context.body(body, 200, {
    ...FILE_HEADERS,
    "content-type": type,
    "content-disposition": contentDisposition("attachment", name),
  });

/**
 * The response that sends one file of users or agents: as a download, or for display if the request
 * has `inline=1` and the contents are an image or text. Throws `bad_query`.
 */
export async function fileResponse(
  context: Call,
  path: string,
  body: ReadableStream<Uint8Array>,
): Promise<Response> {
  const name = path.split("/").at(-1) ?? path;
  const inline = context.req.query("inline");
  if (inline === undefined) return attachment(context, name, body);
  if (inline !== "1") {
    await body.cancel();
    throw new ApiError("bad_query", "`inline` is 1, or omitted.");
  }
  const bytes = new Uint8Array(await new Response(body).arrayBuffer());
  const type = inlineType(bytes);
  if (type === null) return attachment(context, name, new Blob([bytes]).stream());
  return context.body(bytes, 200, {
    ...FILE_HEADERS,
    "content-type": type,
    "content-disposition": contentDisposition("inline", name),
  });
}

/** As in RFC 6266: an ASCII name for old clients, and the full name for other clients. */
function contentDisposition(disposition: "attachment" | "inline", name: string): string {
  const asciiName = name.replaceAll(/[^\w.-]/g, "_").slice(-100);
  const encodedName = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${disposition}; filename="${asciiName}"; filename*=UTF-8''${encodedName}`;
}

/** It contains the writer of archives. */
const archive = lazy(() => import("./tree-archive"));

/**
 * The response that sends a tree as a zip. The zip is created while it is sent. `read` returns the
 * contents of a file by hash.
 */
export async function treeArchive(
  context: Call,
  name: string,
  tree: Tree,
  read: (hash: string) => Promise<ReadableStream<Uint8Array>>,
): Promise<Response> {
  const { zipOf } = await archive();
  return attachment(context, name, zipOf(tree, read), ZIP);
}
