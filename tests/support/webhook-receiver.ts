import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { listen } from '#src/process/listen.js';
import { serverPair } from './certificates.js';
import { endServer } from './end-server.js';
import { temporaryFolder } from './temporary-folder.js';

export interface ReceivedMessage {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests check the body
  readonly json: any;
}

/** Answers a message. */
export type Answer = (response: ServerResponse, message: ReceivedMessage) => void;

export const ACCEPT: Answer = (response) => void response.writeHead(204).end();

/** Answers with a status. */
export function status(code: number, headers: Record<string, string> = {}): Answer {
  return (response) => void response.writeHead(code, headers).end();
}

/** Receives webhooks on this machine, with a certificate for localhost and 127.0.0.1. */
export class WebhookReceiver {
  readonly messages: ReceivedMessage[] = [];
  answer: Answer = ACCEPT;
  private server: Server | undefined;
  private port = 0;
  private readonly folder = temporaryFolder();
  /** The file of the CA of its certificate. */
  readonly authorityFile = `${this.folder}/tls/ca.pem`;

  async start(): Promise<this> {
    const pair = await serverPair(this.folder);
    const server = createServer(pair, (request, response) => void this.receive(request, response));
    this.port = await listen(server, '127.0.0.1', this.port);
    this.server = server;
    return this;
  }

  async stop(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    if (server) await endServer(server);
  }

  get authority(): string {
    return readFileSync(this.authorityFile, 'utf8');
  }

  /** @param host a name or address of this machine */
  urlOf(path: string, host = '127.0.0.1'): string {
    return `https://${host}:${this.port}${path}`;
  }

  /** The changes in the messages so far, in order, of a resource. */
  changesOf(resource: string): { id: number; version: number; deleted?: true }[] {
    return this.messages
      .filter(({ json }) => json.type === `${resource}.changed`)
      .flatMap(({ json }) => json.data.changes);
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const message = { url: request.url ?? '', headers: request.headers, body, json: JSON.parse(body) };
    this.messages.push(message);
    this.answer(response, message);
  }
}

/**
 * Whether a message is signed with a secret, as a receiver checks it by the specification of Standard Webhooks 1.0.0.
 * @param now the time of the receiver, in seconds
 */
export function isSigned(
  { headers, body }: Pick<ReceivedMessage, 'headers' | 'body'>,
  secret: string,
  now = Math.floor(Date.now() / 1_000),
): boolean {
  const id = String(headers['webhook-id']);
  const timestamp = String(headers['webhook-timestamp']);
  if (!/^\d+$/.test(timestamp) || Math.abs(now - Number(timestamp)) > 300) return false;
  const [prefix, encoded = ''] = [secret.slice(0, 6), secret.slice(6)];
  if (prefix !== 'whsec_') return false;
  const hmac = createHmac('sha256', Buffer.from(encoded, 'base64'));
  const expected = hmac.update(`${id}.${timestamp}.${body}`).digest();
  return String(headers['webhook-signature'])
    .split(' ')
    .some((signature) => {
      const [version, text = ''] = signature.split(',');
      const given = Buffer.from(text, 'base64');
      return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
    });
}
