import type { CallOptions } from '#packages/client/index.js';
import { RequestRefused, Unavailable } from '#packages/remote/errors.js';
import { argumentIssues } from './argument-issue.js';
import type { Tool, ToolArguments } from './tools.js';

/** What a model reads: JSON, as text. */
export interface ToolResult {
  readonly [name: string]: unknown;
  readonly content: [{ readonly type: 'text'; readonly text: string }];
  readonly isError?: true;
}

/**
 * Calls a tool. A refusal of the service is a result that the model reads, with the code, message and details of the
 * service; so is a service that does not respond.
 */
export async function callTool(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  options: CallOptions,
): Promise<ToolResult> {
  const wrong = argumentIssues(tool.inputSchema, args);
  const details = wrong.length > 0 ? wrong : (tool.issues?.(args as ToolArguments) ?? []);
  if (details.length > 0)
    return failure({
      code: 'invalid_arguments',
      message: 'The arguments do not fit the tool.',
      details,
    });
  try {
    return result(await tool.call(args as ToolArguments, options));
  } catch (error) {
    if (error instanceof Unavailable) return failure({ code: 'unavailable', message: error.message, details: [] });
    if (!(error instanceof RequestRefused)) throw error;
    return failure({
      ...error.body,
      ...(error.retryAfterSeconds !== undefined && { retryAfterSeconds: error.retryAfterSeconds }),
      ...(error.status === 412 && (await currentState(tool, args['id'] as number, options))),
    });
  }
}

/** The record as it is now, if the credential may read it, and what to do next. */
async function currentState({ name, collection }: Tool, id: number, options: CallOptions): Promise<object> {
  const retry = `decide again, and call ${name} with the new version.`;
  try {
    const current = await collection.read(id, options);
    return { current, remedy: `Look at current, ${retry}` };
  } catch (error) {
    if (!(error instanceof RequestRefused || error instanceof Unavailable)) throw error;
    return { remedy: `Read the record, ${retry}` };
  }
}

function result(value: object): ToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }] };
}

function failure(value: object): ToolResult {
  return { ...result(value), isError: true };
}
