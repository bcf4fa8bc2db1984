/**
 * The types of the parts of LangGraph.js that the comparison calls. The packages are installed only
 * when the comparison runs, so type checks cannot read their own types.
 */
declare module "@langchain/langgraph" {
  type Channel<Value> = { readonly lc_graph_name: string; readonly sample?: Value };
  type Reducer<Value> = { reducer: (left: Value, right: Value) => Value; default: () => Value };
  type Schema<State> = { readonly State: State };
  type Update<State> = Partial<State> | Promise<Partial<State>>;

  export const Annotation: {
    <Value>(reducer?: Reducer<Value>): Channel<Value>;
    Root<State>(channels: { [Name in keyof State]: Channel<State[Name]> }): Schema<State>;
  };
  export const START: string;
  export const END: string;
  /** One task of a node, with its own input. */
  export class Send<Node extends string = string, Input = unknown> {
    constructor(node: Node, input: Input);
  }
  export class StateGraph<State> {
    constructor(schema: Schema<State>);
    addNode<Input>(name: string, run: (input: Input) => Update<State>): this;
    addEdge(from: string, to: string): this;
    addConditionalEdges(from: string, route: (state: State) => Send[], targets: string[]): this;
    compile(): { invoke(input: Partial<State>): Promise<State> };
  }
}

declare module "@langchain/core/messages" {
  export class AIMessageChunk {
    readonly content: unknown;
    readonly tool_calls?: { name: string; args: Record<string, unknown> }[];
    concat(next: AIMessageChunk): AIMessageChunk;
  }
}

declare module "@langchain/openai" {
  import type { AIMessageChunk } from "@langchain/core/messages";

  export type Message = { role: "system" | "user"; content: string };
  export type Tool = { type: "function"; function: { name: string; parameters: object } };
  export type Streamable = {
    stream(messages: Message[]): Promise<AsyncIterable<AIMessageChunk>>;
  };
  export type Options = {
    model: string;
    apiKey: string;
    maxRetries: number;
    configuration: { baseURL: string };
  };
  export class ChatOpenAI implements Streamable {
    constructor(options: Options);
    stream(messages: Message[]): Promise<AsyncIterable<AIMessageChunk>>;
    bindTools(tools: Tool[]): Streamable;
  }
}
