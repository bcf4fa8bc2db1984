import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { extensionOf, mediaTypeOf } from "../../workspace/media-type";
import { beforePair } from "../large-results";
import type { ToolFile, ToolResult } from "../tool";
import { decodeBase64 } from "./schema";
import { MAX_EMBEDDED_CHARS, MAX_FILES } from "./server-limits";
import type { SentSecrets } from "./server-secrets";
import { escapeInvisible } from "./shown-text";

const NOTHING = "(The tool gave no text.)";

/** Removes credentials of a server from its results. */
type Cleaner = Pick<SentSecrets, "clean" | "isInBytes">;

/**
 * Converts a result for the conversation. Texts and short texts of resources stay in the text, with
 * invisible characters escaped. Images, audio and other resources become files, with one line each
 * in the text. Links are listed, but never followed. Nothing in the result is interpreted.
 */
export function readResult(
  { content, structuredContent }: CallToolResult,
  secrets: Cleaner,
): Required<Pick<ToolResult, "text" | "files">> {
  const reading = new ResultReading(secrets);
  const lines = content.map((block) => reading.lineOf(block));
  const hasText = content.some(({ type }) => type === "text");
  // Most servers repeat structured content as text for older clients. If there is no text, the
  // structured content is the result.
  if (!hasText && structuredContent !== undefined)
    lines.unshift(escapeInvisible(JSON.stringify(structuredContent)));
  return {
    text: lines.length === 0 ? NOTHING : secrets.clean(lines.join("\n")),
    files: reading.files,
  };
}

/** Collects the files of a result while its blocks are read. */
class ResultReading {
  readonly files: ToolFile[] = [];
  readonly #secrets: Cleaner;

  constructor(secrets: Cleaner) {
    this.#secrets = secrets;
  }

  /** The text of one block. */
  lineOf(block: ContentBlock): string {
    switch (block.type) {
      case "text":
        return escapeInvisible(block.text);
      case "image":
      case "audio":
        return `[${this.#describeEncoded(block.type, block.data, block.mimeType)}]`;
      case "resource_link": {
        const { uri, name, mimeType, size } = block;
        const facts = [uri, name, ...(mimeType === undefined ? [] : [mimeType])].map((fact) =>
          this.#oneLine(fact),
        );
        return `[link to a resource ${[...facts, ...(size === undefined ? [] : [`${size} bytes`])].join(", ")}; not fetched]`;
      }
      case "resource": {
        const { resource } = block;
        const what = `resource ${this.#oneLine(resource.uri)}`;
        if ("text" in resource) return this.#describeText(what, resource.text, resource.mimeType);
        return `[${this.#describeEncoded(what, resource.blob, resource.mimeType)}]`;
      }
    }
  }

  /** The line for base64 data. Adds the data as a file. */
  #describeEncoded(what: string, data: string, declaredType: string | undefined): string {
    const bytes = decodeBase64(data);
    if (bytes !== null && bytes.byteLength > 0) return this.#addFile(what, bytes, declaredType);
    return `${what}, said to be ${this.#oneLine(declaredType ?? "of no type")}; not kept: it has no data, or none that is base64`;
  }

  /** The text of a resource. A long text becomes a file, and only its beginning is returned. */
  #describeText(what: string, text: string, declaredType: string | undefined): string {
    // Secrets are removed before the cut, because half a secret would not be recognised.
    const clean = this.#secrets.clean(text);
    const beginning = escapeInvisible(clean.slice(0, beforePair(clean, MAX_EMBEDDED_CHARS)));
    if (clean.length <= MAX_EMBEDDED_CHARS)
      return `[${what}, ${this.#oneLine(declaredType ?? "text")}]\n${beginning}`;
    const fileLine = this.#addFile(what, new TextEncoder().encode(clean), declaredType);
    return `[${fileLine}; it begins:]\n${beginning}`;
  }

  /** Adds a file and returns its line, or the reason why it is not added. */
  #addFile(what: string, bytes: Uint8Array, declaredType: string | undefined): string {
    const mediaType = mediaTypeOf(bytes, declaredType);
    const facts = `${what}, ${mediaType}, ${bytes.byteLength} bytes`;
    if (this.files.length >= MAX_FILES)
      return `${facts}; not kept: of a result at most ${MAX_FILES} files are`;
    if (this.#secrets.isInBytes(bytes))
      return `${facts}; not kept: it repeats what the server was shown to be let in`;
    this.files.push({ mediaType, extension: extensionOf(mediaType), bytes });
    return `${facts}: file ${this.files.length}`;
  }

  /** A text of the server on one line, shortened. */
  #oneLine(text: string): string {
    return this.#secrets
      .clean(escapeInvisible(text))
      .replaceAll(/\s+/g, " ")
      .slice(0, MAX_LINE_CHARS);
  }
}

const MAX_LINE_CHARS = 300;
