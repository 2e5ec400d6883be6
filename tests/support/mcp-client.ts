import { Client, type ClientOptions, type Tool } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { CLI } from './child-process-service.js';

/** The result of a tool call: the parsed text, and whether it is an error. */
export interface Called {
  readonly isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests check the value
  readonly value: any;
}

/** `catalogue mcp` in a child process, and a client of the SDK on its standard input and output. */
export class McpSession {
  /** The standard error of the process so far. */
  log = '';

  private constructor(
    readonly client: Client,
    { stderr }: StdioClientTransport,
  ) {
    stderr?.on('data', (chunk) => (this.log += chunk));
  }

  static async start(
    environment: Readonly<Record<string, string>>,
    args: readonly string[] = [],
    options: ClientOptions = {},
  ): Promise<McpSession> {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [CLI, 'mcp', ...args],
      env: { ...environment },
      stderr: 'pipe',
    });
    const session = new McpSession(new Client({ name: 'tests', version: '1' }, options), transport);
    await session.client.connect(transport);
    return session;
  }

  async tools(): Promise<Tool[]> {
    return (await this.client.listTools()).tools;
  }

  async call(name: string, args: Readonly<Record<string, unknown>>): Promise<Called> {
    const { content, isError = false } = await this.client.callTool({ name, arguments: args });
    const [part] = content;
    if (part?.type !== 'text' || content.length !== 1) throw new Error(`not one text: ${JSON.stringify(content)}`);
    return { isError, value: JSON.parse(part.text) };
  }

  /** Calls a tool and returns its result. @throws Error if the result is an error */
  async succeed(name: string, args: Readonly<Record<string, unknown>>): Promise<Called['value']> {
    const { isError, value } = await this.call(name, args);
    if (isError) throw new Error(JSON.stringify(value));
    return value;
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

/** @returns a function that starts sessions, which are closed after the tests of the current `describe` */
export function mcpSessions(): typeof McpSession.start {
  const sessions: McpSession[] = [];
  after(() => Promise.all(sessions.map((session) => session.close())));
  return async (...args) => {
    const session = await McpSession.start(...args);
    sessions.push(session);
    return session;
  };
}
