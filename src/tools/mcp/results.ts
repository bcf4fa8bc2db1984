import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { extensionOf, mediaTypeOf } from "../../workspace/media-type";
import { beforePair } from "../large-results";
import type { ToolFile, ToolResult } from "../tool";
import { decodeBase64 } from "./schema";
import { MAX_EMBEDDED_CHARS, MAX_FILES } from "./server-limits";
import type { SentSecrets } from "./server-secrets";
import { shown } from "./shown-text";

const NOTHING = "(The tool gave no text.)";

/** Removes credentials of a server from its results. */
type Cleaner = Pick<SentSecrets, "clean" | "isInBytes">;

/**
 * The part of a result for the conversation: its text with invisible characters escaped, and short
 * texts of resources. Images, audio and other resources become files with one line each; links are
 * listed and never followed. Nothing in it is interpreted, and no envelope is added.
 */
export function readResult(
  { content, structuredContent }: CallToolResult,
  secrets: Cleaner,
): Required<Pick<ToolResult, "text" | "files">> {
  const reading = new Reading(secrets);
  const lines = content.map((block) => reading.lineOf(block));
  const hasText = content.some(({ type }) => type === "text");
  // Servers repeat structured content as text for older clients. If one does not, the structured
  // content is the answer.
  if (!hasText && structuredContent !== undefined)
    lines.unshift(shown(JSON.stringify(structuredContent)));
  return {
    text: lines.length === 0 ? NOTHING : secrets.clean(lines.join("\n")),
    files: reading.files,
  };
}

class Reading {
  readonly files: ToolFile[] = [];
  readonly #secrets: Cleaner;

  constructor(secrets: Cleaner) {
    this.#secrets = secrets;
  }

  lineOf(block: ContentBlock): string {
    switch (block.type) {
      case "text":
        return shown(block.text);
      case "image":
      case "audio":
        return `[${this.#encoded(block.type, block.data, block.mimeType)}]`;
      case "resource_link": {
        const { uri, name, mimeType, size } = block;
        const facts = [uri, name, ...(mimeType === undefined ? [] : [mimeType])].map((fact) =>
          this.#named(fact),
        );
        return `[link to a resource ${[...facts, ...(size === undefined ? [] : [`${size} bytes`])].join(", ")}; not fetched]`;
      }
      case "resource": {
        const { resource } = block;
        const what = `resource ${this.#named(resource.uri)}`;
        if ("text" in resource) return this.#embedded(what, resource.text, resource.mimeType);
        return `[${this.#encoded(what, resource.blob, resource.mimeType)}]`;
      }
    }
  }

  #encoded(what: string, data: string, said: string | undefined): string {
    const bytes = decodeBase64(data);
    if (bytes !== null && bytes.byteLength > 0) return this.#filed(what, bytes, said);
    return `${what}, said to be ${this.#named(said ?? "of no type")}; not kept: it has no data, or none that is base64`;
  }

  /** A long text becomes a file; its beginning stays in the result. */
  #embedded(what: string, text: string, said: string | undefined): string {
    // Before cutting: half a secret would not be recognised.
    const clean = this.#secrets.clean(text);
    const beginning = shown(clean.slice(0, beforePair(clean, MAX_EMBEDDED_CHARS)));
    if (clean.length <= MAX_EMBEDDED_CHARS)
      return `[${what}, ${this.#named(said ?? "text")}]\n${beginning}`;
    const filed = this.#filed(what, new TextEncoder().encode(clean), said);
    return `[${filed}; it begins:]\n${beginning}`;
  }

  #filed(what: string, bytes: Uint8Array, said: string | undefined): string {
    const mediaType = mediaTypeOf(bytes, said);
    const facts = `${what}, ${mediaType}, ${bytes.byteLength} bytes`;
    if (this.files.length >= MAX_FILES)
      return `${facts}; not kept: of a result at most ${MAX_FILES} files are`;
    if (this.#secrets.isInBytes(bytes))
      return `${facts}; not kept: it repeats what the server was shown to be let in`;
    this.files.push({ mediaType, extension: extensionOf(mediaType), bytes });
    return `${facts}: file ${this.files.length}`;
  }

  /** On one line, shortened. */
  #named(text: string): string {
    return this.#secrets.clean(shown(text)).replaceAll(/\s+/g, " ").slice(0, MAX_SHOWN);
  }
}

const MAX_SHOWN = 300;
