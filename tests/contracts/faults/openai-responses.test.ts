import { OPENAI_RESPONSES } from "../openai-responses-wire";
import { describeBrokenArguments } from "./broken-arguments";
import { describeMutatedStreams } from "./mutated-streams";
import { RESPONSES_MARKS } from "./oracle";
import { describeSilence } from "./silence";

describeMutatedStreams({ wire: OPENAI_RESPONSES, marks: RESPONSES_MARKS });
describeBrokenArguments(OPENAI_RESPONSES);
describeSilence(OPENAI_RESPONSES);
