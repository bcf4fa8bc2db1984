import { NOTHING, words } from "./refusals";

/**
 * Hosts that serve one of the formats and differ in what they take, or where, by the ids of the service's own table of hosts: each is
 * asked below `/as/<its id>`. Any other is asked as the format's maker is.
 */
type Host = {
  /** Fields that it takes besides those of the format's maker, by its documentation. */
  takes?: ReadonlySet<string>;
  /** What stands before the format's own path. */
  root?: string;
};

const HOSTS: Readonly<Record<string, Host>> = {
  vllm: {
    takes: words(`
      add_generation_prompt add_special_tokens best_of chat_template chat_template_kwargs continue_final_message documents echo
      ignore_eos include_stop_str_in_output length_penalty min_p min_tokens mm_processor_kwargs priority prompt_logprobs
      repetition_penalty skip_special_tokens spaces_between_special_tokens stop_token_ids top_k truncate_prompt_tokens`),
  },
  sglang: {
    takes: words(`
      chat_template_kwargs continue_final_message ebnf ignore_eos lora_path min_p min_tokens no_stop_trim regex repetition_penalty
      separate_reasoning skip_special_tokens stop_token_ids stream_reasoning top_k`),
  },
  xai: { takes: words("max_turns") },
  azure_openai: { root: "/openai" },
};

/** What stands before the paths of a host's APIs. */
export function rootOf(host: string): string {
  const facts = HOSTS[host];
  return facts ? `/as/${host}${facts.root ?? ""}` : "";
}

/** The path of a request without that of the host it was sent to, and which fields that host takes besides. */
export function askedOf(path: string): { path: string; takes: ReadonlySet<string> } {
  const host = Object.keys(HOSTS).find((id) => path.startsWith(`${rootOf(id)}/`));
  return host === undefined
    ? { path, takes: NOTHING }
    : { path: path.slice(rootOf(host).length), takes: HOSTS[host]?.takes ?? NOTHING };
}
