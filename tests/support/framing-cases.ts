import { FIRST_KEY } from './in-process-service.js';
import { list } from './list.js';

/** Bytes of a connection, as Latin-1, with the responses that they must get. */
export interface FramingCase {
  readonly title: string;
  /** Messages that come before the last request. `NNNNNN` in them stands for the number of the connection. */
  readonly bytes: string;
  /** Each allowed list of responses: status and error code. A client may get one of several if packets are cut. */
  readonly expected: readonly (readonly string[])[];
  /** Whether the well-formed request behind these bytes is served. If not, the connection is closed. */
  readonly isNextServed: boolean;
  /** What the details of a refusal name: one of these headers; empty: none. */
  readonly headers: readonly string[];
  /** The client sends nothing behind these bytes, and closes its side. */
  readonly isLast?: boolean;
}

type Expected = string | readonly string[];
/** The bytes of cases by their titles. */
type Titled = Readonly<Record<string, string>>;

const COMMON = ['Host: x', 'X-Forwarded-Proto: https', `Authorization: Bearer ${FIRST_KEY}`];
const LIST = '/v1/products?limit=1&fields=id';
const PRODUCTS = '/v1/products';
const BODY = '{"name":"Lamp"}';
const SIZE = BODY.length;
const LENGTH = `Content-Length: ${SIZE}`;
const JSON_TYPE = 'Content-Type: application/json';
const CHUNKED = 'Transfer-Encoding: chunked';

function message(id: string, line: string, fields: readonly string[] = [], body = ''): string {
  const all = [...COMMON, `X-Request-Id: ${id}-NNNNNN`, ...fields];
  return `${line}\r\n${all.join('\r\n')}\r\n\r\n${body}`;
}

const first = (line: string, fields?: readonly string[], body?: string) => message('first', line, fields, body);
const get = (...fields: string[]) => first(`GET ${LIST} HTTP/1.1`, fields);
const getAt = (target: string) => first(`GET ${target} HTTP/1.1`);
const getOf10 = (...fields: string[]) => first(`GET ${LIST} HTTP/1.0`, fields);
const post = (fields: readonly string[], body = BODY) =>
  first(`POST ${PRODUCTS} HTTP/1.1`, [JSON_TYPE, ...fields], body);
const postOf10 = (fields: readonly string[], body: string) => first(`POST ${PRODUCTS} HTTP/1.0`, fields, body);
/** A message with a body of any length, to any path. */
const sized = (target: string, body: string, fields: readonly string[] = []) =>
  first(`${target} HTTP/1.1`, [...fields.slice(0, 1), `Content-Length: ${body.length}`, ...fields.slice(1)], body);
const chunks = (bytes: string, fields: readonly string[] = []) => post([CHUNKED, ...fields], bytes);
/** In place of a part of the request that is served. */
const changed = (part: string | RegExp, other: string) => get().replace(part, other);
const CHUNK = `${SIZE.toString(16)}\r\n${BODY}\r\n`;
const LAST_CHUNK = '0\r\n\r\n';
const WHOLE = CHUNK + LAST_CHUNK;
const HELLO = `5\r\nhello\r\n${LAST_CHUNK}`;
/** A request, which any reader that finds a body shorter takes for one. */
const HIDDEN = message('hidden', `GET ${LIST} HTTP/1.1`);
const HIDDEN_CHUNK = `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n${LAST_CHUNK}`;

/** The request behind the bytes of each case. */
export const NEXT = message('next', `GET ${LIST} HTTP/1.1`, ['Connection: close']);

/** The message of RFC 9112 that the parser refuses. */
export const BAD = '400 invalid_parameter';
const NO_JSON = '400 malformed_json';
const NOT_FOUND = '404 not_found';
const NO_METHOD = '405 method_not_allowed';
const TOO_LARGE = '431 headers_too_large';

/** Each allowed outcome, then the cases that have it. */
type Outcomes = readonly [...Expected[], Titled];

const each = (isNextServed: boolean, outcomes: Outcomes) => {
  const expected = outcomes.slice(0, -1).map((one) => [one].flat() as string[]);
  const cases = Object.entries(outcomes.at(-1) as Titled);
  return cases.map(([title, bytes]): FramingCase => ({ title, bytes, expected, isNextServed, headers: [''] }));
};
const served = (...outcomes: Outcomes) => each(true, outcomes);
const closed = (...outcomes: Outcomes) => each(false, outcomes);
/** The headers of which the refusal may name one, then the cases. */
const bad = (...all: readonly [...string[], Titled]) => {
  const headers = all.length > 1 ? (all.slice(0, -1) as string[]) : [''];
  return closed(BAD, all.at(-1) as Titled).map((one) => ({ ...one, headers }));
};
/** Bytes by titles that end with a value as JSON. */
const titled = (title: string, values: readonly string[], bytes: (value: string) => string): Titled =>
  Object.fromEntries(values.map((value) => [`${title} ${JSON.stringify(value)}`, bytes(value)]));
/** Bytes by titles that end with a value. */
const named = (title: string, values: readonly string[], bytes: (value: string) => string): Titled =>
  Object.fromEntries(values.map((value) => [`${title}${value}`, bytes(value)]));

const contentLengths = [
  ...served('201', {
    'Content-Length': post([LENGTH]),
    'Content-Length in lower case': post([`content-length: ${SIZE}`]),
    'Content-Length with a tab and a space around it': post([`Content-Length:\t${SIZE} `]),
    'Content-Length without white space': post([`Content-Length:${SIZE}`]),
    'Content-Length with leading zeros': post([`Content-Length: 000${SIZE}`]),
  }),
  ...bad({
    'two equal Content-Length': post([LENGTH, LENGTH]),
    'two different Content-Length': post(['Content-Length: 0', LENGTH]),
    'two different Content-Length, the longer one first': post([LENGTH, 'Content-Length: 0']),
    'an empty Content-Length': post(['Content-Length:']),
    'an empty Content-Length of GET': get('Content-Length:'),
    'a folded Content-Length': post([`Content-Length:\r\n ${SIZE}`]),
    ...titled(
      'Content-Length',
      [
        ...list`15, 15  15,  ,15  +15  -0  -1  0xf  0b1  1 5  1_5  15.0  1.5e1  1e1  "15"  15;  x`,
        ...list`18446744073709551631  99999999999999999999999`,
        ...['1\t5', '\x0b15', '15\x0b', '\xa015', '\xb9\xb5', '\xef\xbc\x91\xef\xbc\x95'],
      ],
      (value) => post([`Content-Length: ${value}`]),
    ),
  }),
  ...served(NO_JSON, { 'no Content-Length, and no body': post([], '') }),
  ...closed([NO_JSON], [NO_JSON, BAD], {
    'no Content-Length, and a body': post([]),
    'Content-Length below the body': post(['Content-Length: 5']),
  }),
  ...served('200', { 'Content-Length with an underscore': get('Content_Length: 5') }),
  ...served('200', { 'a request as the body of GET': sized(`GET ${LIST}`, HIDDEN) }),
  ...served(NO_JSON, { 'a request as the body of POST': post([`Content-Length: ${HIDDEN.length}`], HIDDEN) }),
];

const coded = (value: string) => post([`Transfer-Encoding: ${value}`], WHOLE);
const transferCodings = [
  ...served('201', { chunked: chunks(WHOLE) }),
  ...served('201', titled('Transfer-Encoding', ['CHUNKED', 'Chunked', 'chunked ', '\tchunked'], coded)),
  ...bad({
    'Content-Length before chunked': chunks(WHOLE, ['Content-Length: 5']),
    'Content-Length behind chunked': post(['Content-Length: 5', CHUNKED], WHOLE),
    'Content-Length: 0 and chunked': post(['Content-Length: 0', CHUNKED], WHOLE + HIDDEN),
    'Content-Length and an unknown coding': post([LENGTH, 'Transfer-Encoding: x']),
    'Content-Length and identity': post([LENGTH, 'Transfer-Encoding: identity']),
    ...titled(
      'Transfer-Encoding',
      [
        ...list`xchunked  chunkedx  x-chunked  chunked, identity  chunked,gzip  identity  gzip  x  "chunked"`,
        ...list`'chunked'  chunked;q=1  chunked;  chunked,  chun ked  chunked x`,
        ...['chunked\t', '\x0bchunked', 'chunked\x0b', '\x0cchunked', '\x85chunked', '\xa0chunked', 'chunked\xa0'],
        '\xe2\x84\xaahunked',
      ],
      coded,
    ),
    'chunked, chunked': coded('chunked, chunked'),
    'two codings, chunked first': post([CHUNKED, 'Transfer-Encoding: identity'], WHOLE),
    'chunked twice': post([CHUNKED, CHUNKED], WHOLE),
    'a folded coding': post(['Transfer-Encoding:\r\n chunked'], WHOLE),
    'a folded coding behind a tab': post(['Transfer-Encoding:\r\n\tchunked'], WHOLE),
    'a coding folded to the header before it': get('X: y', ` ${CHUNKED}`),
    'a space before the colon': post(['Transfer-Encoding : chunked'], WHOLE),
    'a tab before the colon': post(['Transfer-Encoding\t: chunked'], WHOLE),
    'NUL in the name': post(['Transfer-Encoding\0: chunked'], WHOLE),
    'NUL in the coding': coded('chunked\0'),
    'chunked and Content-Length in HTTP/1.0': postOf10(['Content-Length: 5', JSON_TYPE, CHUNKED], LAST_CHUNK),
  }),
  ...bad(
    // The parser of newer versions of Node.js refuses it, and names no header.
    '',
    'Transfer-Encoding',
    {
      'an empty Transfer-Encoding': post(['Transfer-Encoding:'], WHOLE),
      'an empty Transfer-Encoding of GET': get('Transfer-Encoding:'),
      'an empty Transfer-Encoding and Content-Length': post(['Transfer-Encoding:', LENGTH]),
    },
  ),
  ...served(
    '415 unsupported_media_type',
    titled('Transfer-Encoding', ['gzip, chunked', 'identity, chunked', 'x, chunked', ',chunked'], coded),
  ),
  ...served('200', {
    'a coding with an underscore': get('Transfer_Encoding: chunked'),
    'TE and Trailer': get('TE: trailers, chunked', 'Trailer: Content-Length'),
    'GET with chunks': first(`GET ${LIST} HTTP/1.1`, [CHUNKED], HELLO),
  }),
  ...bad('Transfer-Encoding', {
    'chunked in HTTP/1.0, ': postOf10([JSON_TYPE, CHUNKED], WHOLE),
    'chunked in HTTP/1.0, Connection: keep-alive': postOf10([JSON_TYPE, CHUNKED, 'Connection: keep-alive'], WHOLE),
  }),
];

const TRAILERS = `${CHUNK}0\r\nAuthorization: Bearer x\r\nX-Forwarded-Proto: http\r\n\r\n`;
const chunkTricks = [
  ...served('201', {
    'a chunk size in capitals': chunks(CHUNK.replace('f', 'F') + LAST_CHUNK),
    'a chunk size with leading zeros': chunks(`0000${WHOLE}`),
    'a last chunk of several zeros': chunks(`${CHUNK}000\r\n\r\n`),
    'a chunk extension': chunks(`f;a=1;b="c d;e\\""\r\n${BODY}\r\n0;last\r\n\r\n`),
    'a trailer': chunks(`${CHUNK}0\r\nX-Trailer: 1\r\n\r\n`),
    'chunks of one byte': chunks([...BODY].map((one) => `1\r\n${one}\r\n`).join('') + LAST_CHUNK),
    'chunk extensions of 64 KiB in many chunks': chunks(`1;${'x'.repeat(1_000)}\r\n \r\n`.repeat(66) + WHOLE),
    'Host as a trailer': chunks(`${CHUNK}0\r\nHost: evil\r\n\r\n`),
    'Authorization and X-Forwarded-Proto as trailers': chunks(TRAILERS),
  }),
  ...served(NO_JSON, { 'a request in a chunk': chunks(HIDDEN_CHUNK) }),
  ...served(NOT_FOUND, {
    'a request in an early chunk of an unknown path': first('POST /nowhere HTTP/1.1', [CHUNKED], HIDDEN_CHUNK),
  }),
  ...bad({
    ...titled(
      'the chunk size',
      [
        ...list`0xf  +f  -f  -1  f,  f_  g  f g  ;a  "f"  FFFFFFFFFFFFFFFF1  1000000000000000f  f ;a  f;a="`,
        ...['', ' f', '\tf', 'f ', 'f\t', 'f\x0b', 'f\0', '\xef\xbc\x86', 'f; a\0', 'f;a\x01', 'f;a\rb', 'f;a\nb'],
      ],
      (size) => chunks(`${size}\r\n${BODY}\r\n${LAST_CHUNK}`),
    ),
    'a chunk extension of 64 KiB': chunks(`f;a=${'x'.repeat(65_536)}\r\n${BODY}\r\n${LAST_CHUNK}`),
    'a bare line feed behind an extension of the last chunk': chunks('0;a=\n\r\n\r\n'),
    'an invalid size behind a valid chunk': chunks(`${CHUNK}0x0\r\n\r\n`),
    'an invalid size of an unknown path': first('POST /nowhere HTTP/1.1', [CHUNKED], '0x0\r\n\r\n'),
    ...titled('behind the size', ['\n', '\r'], (end) => chunks(`f${end}${BODY}\r\n${LAST_CHUNK}`)),
    ...titled('behind the chunk', ['\n', '', 'xx'], (end) => chunks(`f\r\n${BODY}${end}${LAST_CHUNK}`)),
    'a chunk longer than its size': chunks(`e\r\n${BODY}\r\n${LAST_CHUNK}`),
    'a chunk shorter than its size': chunks(`11\r\n${BODY}\r\n${LAST_CHUNK}`),
    'a bare line feed behind the last chunk': chunks(`${CHUNK}0\n\n`),
    'a bare line feed at the end of the trailers': chunks(`${CHUNK}0\r\n\n`),
    ...titled(
      'the trailer',
      [`Content-Length: ${NEXT.length}`, CHUNKED, 'X: a\r\n b', 'X Y: a', 'GET / HTTP/1.1'],
      (trailer) => chunks(`${CHUNK}0\r\n${trailer}\r\n\r\n`),
    ),
  }),
  ...closed(TOO_LARGE, {
    'trailers of 70 KiB': chunks(`${CHUNK}0\r\n${`X: ${'x'.repeat(1_000)}\r\n`.repeat(70)}\r\n`),
  }),
];

const lines = [
  ...served('200', {
    'an empty line before the request': `\r\n${get()}`,
    'several empty lines before the request': `\r\n\r\n\r\n${get()}`,
    'a tab in a value': get('X: a\tb'),
    'Latin-1 in a value': get('X: \xe9'),
    // RFC 9112 section 3 allows a recipient to read several spaces as one.
    'two spaces behind the method': changed('GET ', 'GET  '),
    'two spaces behind the target': changed(' HTTP/', '  HTTP/'),
  }),
  ...bad({
    ...titled('before the method', [' ', '\t', '\0', '\xef\xbb\xbf'], (bytes) => bytes + get()),
    ...titled('the end of the request line', ['\n', ' \r\n', ' x\r\n', '\r\n '], (end) =>
      changed('HTTP/1.1\r\n', `HTTP/1.1${end}`),
    ),
    'bare line feeds everywhere': get().replaceAll('\r\n', '\n'),
    'a bare line feed behind a header': changed('Host: x\r\n', 'Host: x\n'),
    'a bare line feed at the end of the headers': changed(/\r\n\r\n$/, '\r\n\n'),
    'two bare line feeds at the end of the headers': changed(/\r\n\r\n$/, '\n\n'),
    'bare carriage returns': get().replaceAll('\r\n', '\r'),
    ...titled('the value', ['\nContent-Length: 5', '\rContent-Length: 5', '\r', '\0b', '\x01b', '\x7fb'], (value) =>
      get(`X: a${value}`),
    ),
    'NUL in the method': changed('GET', 'G\0T'),
    'a tab behind the method': changed('GET ', 'GET\t'),
    'a tab behind the target': changed(' HTTP/', '\tHTTP/'),
    'a folded header': get('X: a', ' b'),
    'a header folded by a tab': get('X: a', '\tb'),
  }),
];

const HOSTS = list`localhost  LOCALHOST:8443  a.b-c.example.  under_score  a:  127.0.0.1:1  [::1]  %c3%bc`;
const NO_HOSTS = list`a, b  a b  a@b  a/b  a:80,b  http://a  a?b  a#b  a\b  a"b  <a>  a:x  a:1:2  [::1  ::1  []  %zz`;
const withHost = (host: string) => changed('Host: x', `Host: ${host}`);
/** Headers that come once. */
const SINGLE = [
  `Authorization: Bearer ${FIRST_KEY}`,
  'Content-Type: application/json',
  'Host: x',
  'If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT',
  'Origin: https://shop.example',
  'Range: bytes=0-1',
  'User-Agent: x',
];
const headers = [
  ...bad(
    titled(
      'the header name',
      [
        ...list`Bad Header  X@  X(  X"  X,  X/  X;  X[  X{  X?  X=  X<  X\\`.map((name) => name.replace('\\\\', '\\')),
        ...['X\x80', 'X\xe9', 'X\0', '', 'X ', 'X\t', 'X\x0b'],
      ],
      (name) => get(`${name}: y`),
    ),
  ),
  ...bad({
    'a header without a colon': get('X'),
    'Host with a space before the colon': changed('Host: x', 'Host : x'),
  }),
  ...served('200', {
    'an empty header': get('X:'),
    'every character that a name may have': get("X!#$%&'*+-.^_`|~0: y"),
    'a header of 15,000 bytes': get(`X: ${'x'.repeat(15_000)}`),
  }),
  ...closed(TOO_LARGE, {
    ...named('a header of so many bytes: ', list`16500  20000  60000  70000  200000  1000000`, (length) =>
      get(`X: ${'x'.repeat(Number(length))}`),
    ),
    'a name of 20,000 bytes': get(`${'x'.repeat(20_000)}: y`),
    'a name of 200,000 bytes': get(`${'x'.repeat(200_000)}: y`),
    '5,000 headers': get(...Array<string>(5_000).fill('A: b')),
  }),
  ...SINGLE.flatMap((field) => {
    const [name = ''] = field.split(':');
    const own = /^(?:Authorization|Host)/.test(name) ? [] : [field];
    const second = field.replace(name, name.toLowerCase());
    return bad(name, {
      [`two equal ${name}`]: get(...own, second),
      [`two different ${name}`]: get(...own, `${second}x`),
    });
  }),
  ...[
    ['Accept: text/html', 'Accept: application/json'],
    ['If-None-Match: "a"', 'If-None-Match: "b"'],
    ['Prefer: count=exact', 'Prefer: return=minimal'],
    ['Accept-Encoding: br', 'Accept-Encoding: gzip'],
    ['Via: 1.1 a', 'Via: 1.1 b'],
  ].flatMap((two) => served('200', { [`two lines of a list: ${two}`]: get(...two) })),
  ...bad('Content-Type', { 'two Content-Type of a request with a body': post([JSON_TYPE, LENGTH]) }),
  ...served('200', titled('the valid Host', ['', ...HOSTS, '[2001:db8::1]:8443'], withHost)),
  ...bad('Host', {
    'no Host': changed('Host: x\r\n', ''),
    ...titled('Host', [...NO_HOSTS, '\xe9', 'b\xc3\xbccher.example'], withHost),
    'Host "a, b" in HTTP/1.0': withHost('a, b').replace('HTTP/1.1', 'HTTP/1.0'),
  }),
];

const targets = [
  ...served('200', {
    ...named('a list at ', list`http://x  https://x:443  HTTP://X  http://evil.example`, (host) => getAt(host + LIST)),
    ...named('the target ', list`http://[::1/  http://a[b]/  http://h:notaport/products`, getAt),
  }),
  ...served(NOT_FOUND, {
    ...named('the target ', list`http://x  http://[::1/nowhere  http://h:notaport?x=1  ftp://x/products  *  *x`, getAt),
    ...named('the target ', list`//v1/products  //x/v1/products  /v1/products#x  /v1/../v1/products`, getAt),
    ...named('the target ', list`/v1/products%0d%0aX-Y:%20z  /v1/products%00  /v1%2fproducts`, getAt),
    'an absolute target of another scheme': getAt(`ftp://x${LIST}`),
    'OPTIONS with the asterisk': first('OPTIONS * HTTP/1.1'),
  }),
  ...bad(named('the target ', list`x:443  v1/products  ?limit=1  \v1\products  /v1/products x`, getAt)),
  ...bad(titled('the target', ['/v1/products/\xc3\xa9', '/v1/products\0'], getAt)),
  ...closed(NO_METHOD, {
    CONNECT: first('CONNECT x:443 HTTP/1.1'),
    'CONNECT with a body and a request': first('CONNECT x:443 HTTP/1.1', ['Content-Length: 5'], `hello${HIDDEN}`),
    'CONNECT with a path': first(`CONNECT ${PRODUCTS} HTTP/1.1`),
  }),
  ...served('400 unknown_parameter', { 'a target of 8 KiB': getAt(`${LIST}&x=`.padEnd(8_192, 'x')) }),
  ...closed('414 uri_too_long', { 'a target of a byte more': getAt(`${LIST}&x=`.padEnd(8_193, 'x')) }),
  ...closed(TOO_LARGE, { 'a target of 200,000 bytes': getAt(`/${'x'.repeat(200_000)}`) }),
];

const method = (name: string) => changed('GET', name);
const methods = [
  ...closed(NO_METHOD, BAD, named('the method ', [...list`get  Get  GETT  BREW  PRIX`, 'X'.repeat(60)], method)),
  ...served(
    NO_METHOD,
    named('the method ', list`TRACE  PROPFIND  PURGE  M-SEARCH  LOCK  SEARCH`, (name) =>
      method(name).replace('?limit=1&fields=id', ''),
    ),
  ),
  ...bad(titled('the method', ['G@T', 'G(T', '', 'G\xe9T', 'GET,'], method)),
  ...closed(BAD, NO_METHOD, TOO_LARGE, { 'a method of 200,000 bytes': method('X'.repeat(200_000)) }),
];

const versions = [
  ...bad({
    'a word': 'nonsense\r\n\r\n',
    'HTTP/0.9': `GET ${LIST}\r\n`,
    'HTTP/0.9 with headers': changed(' HTTP/1.1', ''),
    ...named(
      'HTTP/',
      [...list`0.8  1.2  1.9  2.0  3.0  1.10  01.1  1  1,1  11  .1  1.  x.y  1.1x  +1.1  1. 1`, '1.1\x0b'],
      (version) => changed('HTTP/1.1', `HTTP/${version}`),
    ),
    ...named('the protocol ', ['http/1.1', 'HTTPS/1.1', 'HTTP /1.1', 'ICE/1.0', 'XTTP/1.1'], (protocol) =>
      changed('HTTP/1.1', protocol),
    ),
    'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
  }),
  ...closed('200', {
    'HTTP/1.0': getOf10(),
    'HTTP/1.0 without Host': getOf10().replace('Host: x\r\n', ''),
    'HTTP/1.1 with close': get('Connection: close'),
    'HTTP/1.1 with Close in a list': get('Connection: x, Close'),
    // Node's parser reads RTSP as HTTP.
    'the protocol RTSP/1.0': changed('HTTP/1.1', 'RTSP/1.0'),
  }),
  ...served('200', { 'HTTP/1.0 with keep-alive': getOf10('Connection: keep-alive') }),
  ...closed(NO_JSON, BAD, { 'POST of HTTP/1.0 without a length': postOf10([JSON_TYPE], BODY) }),
];

const UPGRADES: Readonly<Record<string, readonly string[]>> = {
  h2c: ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQ'],
  websocket: [
    ...['Connection: Upgrade', 'Upgrade: websocket'],
    ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='],
  ],
  TLS: ['Connection: upgrade', 'Upgrade: TLS/1.2'],
  nothing: ['Connection: keep-alive, Upgrade'],
  'h2c, without Connection': ['Upgrade: h2c'],
};
const upgrades = Object.entries(UPGRADES).flatMap(([name, fields]) => [
  ...closed('200', { [`an upgrade to ${name}`]: get(...fields) }),
  ...closed('201', {
    [`an upgrade to ${name} of a request with a body`]: post([...fields, LENGTH]),
    [`an upgrade to ${name} of a request with chunks`]: chunks(WHOLE, fields),
  }),
]);

const CONTINUE = 'Expect: 100-continue';
const expectations = [
  ...served('201', {
    '100-continue': post([LENGTH, CONTINUE]),
    '100-Continue with chunks': chunks(WHOLE, ['Expect: 100-Continue']),
  }),
  ...closed('413 payload_too_large', {
    '100-continue of a body that is too large': post(['Content-Length: 2000000', CONTINUE], ''),
  }),
  ...closed('200', { '100-continue of GET': get(CONTINUE) }),
  ...closed(NOT_FOUND, {
    '100-continue for an unknown path': first('POST /nowhere HTTP/1.1', ['Content-Length: 5', CONTINUE], 'hello'),
  }),
  ...closed('417 expectation_failed', {
    'an unknown expectation': get('Expect: x'),
    'an unknown expectation of a request with a body': post([LENGTH, 'Expect: x']),
    'two expectations': post([LENGTH, 'Expect: 100-continue, x']),
  }),
];

const bodies = [
  ...served('200', { 'HEAD with a body': sized(`HEAD ${LIST}`, HIDDEN) }),
  ...served('404', { 'HEAD of an unknown path with chunks': first('HEAD /nowhere HTTP/1.1', [CHUNKED], HELLO) }),
  ...served(NOT_FOUND, {
    'DELETE with a body': sized('DELETE /v1/products/999999', HIDDEN),
    'an unread body of an unknown path': sized('POST /nowhere', 'x'.repeat(100_000)),
  }),
  ...served('204', { 'OPTIONS with a body': sized(`OPTIONS ${PRODUCTS}`, HIDDEN) }),
  ...served('304', { 'a 304 to a request with a body': sized('GET /v1/products/1', HIDDEN, ['If-None-Match: *']) }),
  ...served('201', { 'a 201 without a body': post([LENGTH, 'Prefer: return=minimal']) }),
  ...served(NO_METHOD, { 'an unread body of a wrong method': sized('POST /v1/products/1', HIDDEN) }),
  ...served('415 unsupported_media_type', {
    'an unread body of a wrong type': sized(`POST ${PRODUCTS}`, HIDDEN, ['Content-Type: text/plain']),
  }),
  ...served('401 unauthenticated', {
    'an unread body without a token': sized(`POST ${PRODUCTS}`, HIDDEN, [JSON_TYPE]).replace(
      /Authorization: .*\r\n/,
      '',
    ),
  }),
];

const third = message('third', `GET ${LIST} HTTP/1.1`);
const pipelines = [
  ...served(['200', '201', '200'], { 'three requests': get() + post([LENGTH]) + third }),
  ...served(['200', NOT_FOUND, '200'], { 'a refusal in the middle': get() + getAt('/nowhere') + third }),
  ...closed(['200'], ['200', BAD], {
    'a malformed request in the middle': `${get()}GET / HTTP/x\r\n\r\n${third}`,
    'a malformed header in the middle': `${get()}GET / HTTP/1.1\r\nHost : x\r\n\r\n${third}`,
    'two lengths in the middle': get() + post(['Content-Length: 0', LENGTH]) + third,
    'a malformed chunk in the middle': `${get()}${chunks(`${CHUNK}0x0\r\n\r\n`)}${third}`,
  }),
  ...closed(['200', BAD], {
    'no Host in the middle': `${get()}GET / HTTP/1.1\r\nX-Forwarded-Proto: https\r\n\r\n${third}`,
    'two Host in the middle': get() + get('Host: y') + third,
  }).map((one) => ({ ...one, headers: ['Host'] })),
  ...closed(['200'], ['200', NO_METHOD], {
    'CONNECT in the middle': `${get()}CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n${third}`,
  }),
  ...closed(['200', '200'], {
    'close in the middle': get() + get('Connection: close') + third,
    'an upgrade in the middle': get() + get('Upgrade: h2c') + third,
  }),
];

const cuts = closed([], BAD, {
  'half a request line': 'GET /v1/pro',
  'half a header': 'GET /v1/products HTTP/1.1\r\nHos',
  'no end of the headers': get().slice(0, -2),
  'half a body': post([LENGTH], BODY.slice(0, 5)),
  'half a chunk': chunks(CHUNK.slice(0, 9)),
  'no last chunk': chunks(CHUNK),
  'half a last chunk': chunks(`${CHUNK}0\r\n`),
}).map((one) => ({ ...one, isLast: true }));

export const FRAMING_CASES: readonly FramingCase[] = [
  ...[contentLengths, transferCodings, chunkTricks, lines, headers, targets, methods, versions].flat(),
  ...[upgrades, expectations, bodies, pipelines, cuts].flat(),
];
