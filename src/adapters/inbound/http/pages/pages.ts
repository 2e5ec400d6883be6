import { STATUS_CODES } from 'node:http';
import type { Store } from '../../../../application/ports/store.js';
import { unavailable } from '../../../../domain/errors.js';
import { readProgramFile } from '../../../../shared/program.js';
import type { PublicUrl } from '../../../../shared/public-url.js';
import type { Coding, CompressedDocument, Context } from '../core/context.js';
import { ERRORS, exampleOf, ISSUES, type ResponseErrorCode } from '../core/error-codes.js';
import { matchesIfNoneMatch, weakTag } from '../core/etag.js';
import { HttpError } from '../core/http-error.js';
import { HTML, JSON_TYPE, JSON_UTF8, PROBLEM } from '../core/media-types.js';
import type { Handler, Policy, Route } from '../core/route.js';
import { CODECS, preferredType } from '../middleware/negotiation.js';
import { OAUTH_ERRORS } from '../oauth/oauth-errors.js';

/** A document with an ETag. All responses share its bytes, and it is compressed once for each coding. */
class TaggedDocument implements CompressedDocument {
  private readonly content: Buffer;
  private readonly tag: string;
  private readonly compressed = new Map<Coding, Promise<Buffer>>();

  /** @param type the media type, with its charset if it has one */
  constructor(
    private readonly type: string,
    text: string,
    private readonly cacheControl: string,
  ) {
    this.content = Buffer.from(text);
    this.tag = weakTag(this.content);
  }

  /** Responds with the document, or with 304. A 304 has the same headers, because caches store them. */
  send(ctx: Context): void {
    ctx.set({ 'Content-Type': this.type, 'Cache-Control': this.cacheControl, ETag: this.tag });
    if (matchesIfNoneMatch(ctx, this.tag)) {
      ctx.status = 304;
      return;
    }
    ctx.body = this.content;
    ctx.state.document = this;
  }

  compressedBy(coding: Coding): Promise<Buffer> {
    const bytes = this.compressed.get(coding) ?? CODECS[coding].compressKept(this.content);
    this.compressed.set(coding, bytes);
    bytes.catch(() => this.compressed.delete(coding));
    return bytes;
  }
}

// The OpenAPI document.

/** @param build called once, at the first request, because the service learns its URL when it starts */
export function openApiRoute(build: () => object): Route {
  let document: TaggedDocument | undefined;
  return publicRoute('/openapi.json', {
    varyBy: ['Accept-Encoding'],
    handle: (ctx) => {
      // Not cached without revalidation, because a restart can change the document.
      document ??= new TaggedDocument(JSON_TYPE, JSON.stringify(build()), 'no-cache');
      document.send(ctx);
    },
  });
}

/** @param path the pattern of the path, if `template` has a variable */
function publicRoute(
  template: string,
  operation: Handler & Partial<Policy>,
  path: string = template.replaceAll('.', '\\.'),
): Route {
  return {
    template,
    path: new RegExp(`^${path}$`),
    access: 'public',
    isStatic: true,
    operations: { GET: operation },
  };
}

// The pages at /docs and /console, each with its script, style sheets and data.

const STYLE_TYPE = 'text/css';
const SCRIPT_TYPE = 'text/javascript';
const FILE_TYPES = [HTML, STYLE_TYPE, SCRIPT_TYPE, JSON_TYPE];

interface PageFile {
  /** Its media type, without parameters. */
  readonly type: string;
  readonly document: TaggedDocument;
}

/** A page in a folder of `packages/pages`, which is also its path. */
interface Page {
  readonly name: string;
  readonly styles: readonly string[];
  /** Data files in JSON, by name. */
  readonly data?: Readonly<Record<string, string>>;
  /** Whether it shows pictures of other origins, by https. */
  readonly hasPictures?: boolean;
}

/** The interactive reference: a page that reads the OpenAPI document. */
export function docsRoutes(): Route[] {
  return pageRoutes({
    name: 'docs',
    styles: ['base.css', 'docs.css'],
    data: { 'errors.json': JSON.stringify(errorCodes()) },
  });
}

/** The console: a page for people, which uses the public API through the TypeScript client. */
export function consoleRoutes(): Route[] {
  const data = { 'samples.json': sampleProducts() };
  return pageRoutes({ name: 'console', styles: ['console.css'], data, hasPictures: true });
}

/** What a new catalogue can be filled with. The sku of a line is only the type of the product. */
function sampleProducts(): string {
  const lines = readProgramFile('src/adapters/inbound/cli/samples.ndjson').trimEnd();
  return `[${lines.replaceAll('\n', ',')}]`;
}

/** The error codes with their explanations, from the tables that the service itself uses. */
function errorCodes() {
  const responses = Object.entries(ERRORS).map(([code, { status, cause, remedy }]) => ({
    code,
    status,
    reason: STATUS_CODES[status],
    cause,
    remedy,
    example: exampleOf(code as ResponseErrorCode),
  }));
  const details = Object.entries(ISSUES).map(([code, { cause, remedy }]) => ({ code, cause, remedy }));
  const oauth = Object.entries(OAUTH_ERRORS).map(([code, { cause, remedy }]) => ({ code, cause, remedy }));
  return { responses, details, oauth };
}

function pageRoutes({ name, styles, data = {}, hasPictures = false }: Page): Route[] {
  // The pages and their style sheets are sources. Their scripts are bundled by the build.
  const read = (source: string) => readProgramFile(`packages/pages/${name}/${source}`);
  const start = file(HTML, read('index.html'));
  const files = new Map([
    ['main.js', file(SCRIPT_TYPE, readProgramFile(`dist/pages/${name}.js`))],
    ...styles.map((style) => [style, file(STYLE_TYPE, read(style))] as const),
    ...Object.entries(data).map(([path, value]) => [path, file(JSON_TYPE, value)] as const),
  ]);
  const names = [...files.keys()];
  const fileOf = (ctx: Context) => files.get((ctx['captures'] as string[])[0] ?? '') as PageFile;
  const headers = { 'Content-Security-Policy': policyOf(hasPictures) };
  const pattern = `/${name}/(${names.join('|').replaceAll('.', '\\.')})`;
  return [
    publicRoute(
      `/${name}`,
      fileOperation(() => start, headers),
    ),
    { ...publicRoute(`/${name}/{file}`, fileOperation(fileOf), pattern), variables: { file: names } },
  ];
}

function file(type: string, text: string): PageFile {
  return { type, document: new TaggedDocument(withCharset(type), text, 'public, no-cache') };
}

function withCharset(type: string): string {
  return `${type}; charset=utf-8`;
}

/**
 * Allows only resources of this origin, and pictures of others where a page shows them. The pages have no inline scripts
 * or styles, and no form.
 */
function policyOf(hasPictures: boolean): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data:${hasPictures ? ' https:' : ''}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function fileOperation(
  fileOf: (ctx: Context) => PageFile,
  headers: Readonly<Record<string, string>> = {},
): Handler & Partial<Policy> {
  return {
    // Negotiation allows all types; `requireAccepted` then checks the type of the file.
    produces: FILE_TYPES.map(withCharset),
    varyBy: ['Accept-Encoding'],
    headers: (ctx) => requireAccepted(ctx, fileOf(ctx).type),
    handle: (ctx) => {
      ctx.set(headers);
      fileOf(ctx).document.send(ctx);
    },
  };
}

/** Checks the type of the file, because the general negotiation always allows JSON. */
function requireAccepted(ctx: Context, type: string): void {
  if (ctx.accepts(withCharset(type), PROBLEM)) return;
  throw new HttpError('not_acceptable', `Accept matches no media type of the response: ${type}.`);
}

// The root.

/** The links that every service has. An address without a host is right behind any proxy. */
export const LINKS = {
  openapi: '/openapi.json',
  docs: '/docs',
  console: '/console',
  health: '/health/ready',
  authorizationServer: '/.well-known/oauth-authorization-server',
  protectedResource: '/.well-known/oauth-protected-resource',
};

/**
 * The root: links for programs, and for browsers a redirect to the interactive reference.
 * @param collections the canonical path of each collection, by its name
 */
export function rootRoute(
  collections: Readonly<Record<string, string>>,
  publicUrl: Pick<PublicUrl, 'addressOf'>,
): Route {
  const paths = Object.entries({ ...collections, ...LINKS });
  const links = Object.fromEntries(paths.map(([name, path]) => [name, publicUrl.addressOf(path)]));
  const document = new TaggedDocument(JSON_TYPE, JSON.stringify(links), 'no-cache');
  return publicRoute('/', {
    produces: [withCharset(HTML)],
    handle: (ctx) => {
      if (!prefersPage(ctx)) return document.send(ctx);
      ctx.set({ Location: ctx.state.addressOf(LINKS.docs), 'Cache-Control': 'no-cache' });
      ctx.body = null;
      ctx.status = 303;
    },
  });
}

const acceptsJson = preferredType([JSON_UTF8, PROBLEM]);

/**
 * Whether `Accept` refuses JSON, or names text/html with a higher quality than JSON (RFC 9110 section 12.5.1). The
 * negotiation has already found that one of the two is acceptable.
 */
function prefersPage(ctx: Context): boolean {
  if (!acceptsJson(ctx)) return true;
  const ranges = qualities(ctx.req.headers.accept ?? '');
  const [json = 0] = [JSON_TYPE, 'application/*', '*/*'].flatMap((range) => ranges.get(range) ?? []);
  return (ranges.get(HTML) ?? 0) > json;
}

/** The quality of each media range, in lower case. */
function qualities(accept: string): ReadonlyMap<string, number> {
  return new Map(
    accept.split(',').map((element) => {
      const [range = '', ...parameters] = element.toLowerCase().split(';');
      const quality = parameters.map((text) => /^\s*q\s*=\s*([\d.]+)/.exec(text)?.[1]).find(Boolean);
      return [range.trim(), Number(quality ?? 1)];
    }),
  );
}

// The probes.

/**
 * The probes: whether the process is alive, and whether it can serve requests.
 * @param unreadiness why no request can be served whatever the store says; undefined if that is for the store to say
 */
export function healthRoutes(store: Store, unreadiness: () => string | undefined): Route[] {
  let running: Promise<void> | undefined;
  // Probes have no limit. Those that arrive together share one call, so they do not fill the pool of the store.
  const ping = () => {
    running ??= store.ping().finally(() => {
      running = undefined;
    });
    return running;
  };
  return [
    probe('live', async () => {}),
    probe('ready', async () => {
      const reason = unreadiness();
      if (reason !== undefined) throw unavailable(reason);
      await ping();
    }),
  ];
}

function probe(name: string, check: () => Promise<void>): Route {
  const handle: Handler['handle'] = async (ctx) => {
    await check();
    ctx.set('Content-Type', JSON_TYPE);
    ctx.body = JSON.stringify({ status: 'ok' });
  };
  return { ...publicRoute(`/health/${name}`, { handle }), access: 'probe' };
}
