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

const COMMON = ['Host: x', 'X-Forwarded-Proto: https', `Authorization: Bearer ${FIRST_KEY}`];
const LIST = '/v1/products?limit=1&fields=id';
const BODY = '{"name":"Lamp"}';
const SIZE = BODY.length;
const JSON_TYPE = 'Content-Type: application/json';
const CHUNKED = 'Transfer-Encoding: chunked';

function message(id: string, line: string, fields: readonly string[] = [], body = ''): string {
  const all = [...COMMON, `X-Request-Id: ${id}-NNNNNN`, ...fields];
  return `${line}\r\n${all.join('\r\n')}\r\n\r\n${body}`;
}

const first = (line: string, fields?: readonly string[], body?: string) => message('first', line, fields, body);
const get = (...fields: string[]) => first(`GET ${LIST} HTTP/1.1`, fields);
const getAt = (target: string) => first(`GET ${target} HTTP/1.1`);
const post = (fields: readonly string[], body: string) =>
  first('POST /v1/products HTTP/1.1', [JSON_TYPE, ...fields], body);
/** With a body that any reader of another length takes for a request. */
const HIDDEN = message('hidden', `GET ${LIST} HTTP/1.1`);
const chunks = (bytes: string, fields: readonly string[] = []) => post([CHUNKED, ...fields], bytes);
const CHUNK = `${SIZE.toString(16)}\r\n${BODY}\r\n`;
const LAST_CHUNK = '0\r\n\r\n';

/** The request behind the bytes of each case. */
export const NEXT = message('next', `GET ${LIST} HTTP/1.1`, ['Connection: close']);

/** The message of RFC 9112 that the parser refuses. */
export const BAD = '400 invalid_parameter';

const served = (title: string, bytes: string, ...expected: Expected[]): FramingCase => ({
  title,
  bytes,
  expected: expected.map((one) => [one].flat()),
  isNextServed: true,
  headers: [''],
});
const closed = (title: string, bytes: string, ...expected: Expected[]): FramingCase => ({
  ...served(title, bytes, ...expected),
  isNextServed: false,
});
const bad = (title: string, bytes: string, ...headers: string[]): FramingCase => ({
  ...closed(title, bytes, BAD),
  ...(headers.length > 0 && { headers }),
});
const cut = (title: string, bytes: string, ...expected: Expected[]): FramingCase => ({
  ...closed(title, bytes, ...expected),
  isLast: true,
});

const contentLengths: readonly FramingCase[] = [
  served('Content-Length', post([`Content-Length: ${SIZE}`], BODY), '201'),
  served('Content-Length in lower case', post([`content-length: ${SIZE}`], BODY), '201'),
  served('Content-Length with a tab and a space around it', post([`Content-Length:\t${SIZE} `], BODY), '201'),
  served('Content-Length without white space', post([`Content-Length:${SIZE}`], BODY), '201'),
  served('Content-Length with leading zeros', post([`Content-Length: 000${SIZE}`], BODY), '201'),
  bad('two equal Content-Length', post([`Content-Length: ${SIZE}`, `Content-Length: ${SIZE}`], BODY)),
  bad('two different Content-Length', post(['Content-Length: 0', `Content-Length: ${SIZE}`], BODY)),
  bad(
    'two different Content-Length, the longer one first',
    post([`Content-Length: ${SIZE}`, 'Content-Length: 0'], BODY),
  ),
  ...[
    `${SIZE}, ${SIZE}`,
    `${SIZE},`,
    `,${SIZE}`,
    `+${SIZE}`,
    '-0',
    '-1',
    '0xf',
    '0b1',
    '1 5',
    '1\t5',
    '1_5',
    '15.0',
    '1.5e1',
    '1e1',
    `"${SIZE}"`,
    `${SIZE};`,
    'x',
    '18446744073709551631',
    '99999999999999999999999',
    '\x0b15',
    '15\x0b',
    '\xa015',
    '\xb9\xb5',
    '\xef\xbc\x91\xef\xbc\x95',
  ].map((value) => bad(`Content-Length ${JSON.stringify(value)}`, post([`Content-Length: ${value}`], BODY))),
  bad('an empty Content-Length', post(['Content-Length:'], BODY)),
  bad('an empty Content-Length of GET', get('Content-Length:')),
  bad('a folded Content-Length', post([`Content-Length:\r\n ${SIZE}`], BODY)),
  served('no Content-Length, and no body', post([], ''), '400 malformed_json'),
  closed('no Content-Length, and a body', post([], BODY), ['400 malformed_json'], ['400 malformed_json', BAD]),
  closed(
    'Content-Length below the body',
    post(['Content-Length: 5'], BODY),
    ['400 malformed_json'],
    ['400 malformed_json', BAD],
  ),
  served('Content-Length with an underscore', get('Content_Length: 5'), '200'),
  served(
    'a request as the body of GET',
    first(`GET ${LIST} HTTP/1.1`, [`Content-Length: ${HIDDEN.length}`], HIDDEN),
    '200',
  ),
  served('a request as the body of POST', post([`Content-Length: ${HIDDEN.length}`], HIDDEN), '400 malformed_json'),
];

/** The parser of newer versions of Node.js refuses it, and names no header. */
const NAMED_BY_SOME = ['', 'Transfer-Encoding'];
const transferCodings: readonly FramingCase[] = [
  served('chunked', chunks(CHUNK + LAST_CHUNK), '201'),
  ...['CHUNKED', 'Chunked', 'chunked ', '\tchunked'].map((value) =>
    served(
      `Transfer-Encoding ${JSON.stringify(value)}`,
      post([`Transfer-Encoding: ${value}`], CHUNK + LAST_CHUNK),
      '201',
    ),
  ),
  bad('Content-Length before chunked', chunks(CHUNK + LAST_CHUNK, ['Content-Length: 5'])),
  bad('Content-Length behind chunked', post(['Content-Length: 5', CHUNKED], CHUNK + LAST_CHUNK)),
  bad('Content-Length: 0 and chunked', post(['Content-Length: 0', CHUNKED], CHUNK + LAST_CHUNK + HIDDEN)),
  bad('Content-Length and an unknown coding', post([`Content-Length: ${SIZE}`, 'Transfer-Encoding: x'], BODY)),
  bad('Content-Length and identity', post([`Content-Length: ${SIZE}`, 'Transfer-Encoding: identity'], BODY)),
  ...[
    ...list`xchunked  chunkedx  x-chunked  chunked, identity  chunked,gzip  identity  gzip  x  "chunked"  'chunked'`,
    ...list`chunked;q=1  chunked;  chunked,  chun ked  chunked x`,
    'chunked\t',
    '\x0bchunked',
    'chunked\x0b',
    '\x0cchunked',
    '\x85chunked',
    '\xa0chunked',
    'chunked\xa0',
    '\xe2\x84\xaahunked',
  ].map((value) =>
    bad(`Transfer-Encoding ${JSON.stringify(value)}`, post([`Transfer-Encoding: ${value}`], CHUNK + LAST_CHUNK)),
  ),
  bad('an empty Transfer-Encoding', post(['Transfer-Encoding:'], CHUNK + LAST_CHUNK), ...NAMED_BY_SOME),
  bad('an empty Transfer-Encoding of GET', get('Transfer-Encoding:'), ...NAMED_BY_SOME),
  bad(
    'an empty Transfer-Encoding and Content-Length',
    post(['Transfer-Encoding:', `Content-Length: ${SIZE}`], BODY),
    ...NAMED_BY_SOME,
  ),
  ...['gzip, chunked', 'identity, chunked', 'x, chunked', ',chunked'].map((value) =>
    served(
      `Transfer-Encoding ${JSON.stringify(value)}`,
      post([`Transfer-Encoding: ${value}`], CHUNK + LAST_CHUNK),
      '415 unsupported_media_type',
    ),
  ),
  bad('chunked, chunked', post(['Transfer-Encoding: chunked, chunked'], CHUNK + LAST_CHUNK)),
  bad('two codings, chunked first', post([CHUNKED, 'Transfer-Encoding: identity'], CHUNK + LAST_CHUNK)),
  bad('chunked twice', post([CHUNKED, CHUNKED], CHUNK + LAST_CHUNK)),
  bad('a folded coding', post(['Transfer-Encoding:\r\n chunked'], CHUNK + LAST_CHUNK)),
  bad('a folded coding behind a tab', post(['Transfer-Encoding:\r\n\tchunked'], CHUNK + LAST_CHUNK)),
  bad('a coding folded to the header before it', get('X: y', ` ${CHUNKED}`)),
  bad('a space before the colon', post(['Transfer-Encoding : chunked'], CHUNK + LAST_CHUNK)),
  bad('a tab before the colon', post(['Transfer-Encoding\t: chunked'], CHUNK + LAST_CHUNK)),
  bad('NUL in the name', post(['Transfer-Encoding\0: chunked'], CHUNK + LAST_CHUNK)),
  bad('NUL in the coding', post(['Transfer-Encoding: chunked\0'], CHUNK + LAST_CHUNK)),
  served('a coding with an underscore', get('Transfer_Encoding: chunked'), '200'),
  served('TE and Trailer', get('TE: trailers, chunked', 'Trailer: Content-Length'), '200'),
  served('GET with chunks', first(`GET ${LIST} HTTP/1.1`, [CHUNKED], `5\r\nhello\r\n${LAST_CHUNK}`), '200'),
  ...[[], ['Connection: keep-alive']].map((fields) =>
    bad(
      `chunked in HTTP/1.0, ${fields}`,
      first('POST /v1/products HTTP/1.0', [JSON_TYPE, CHUNKED, ...fields], CHUNK + LAST_CHUNK),
      'Transfer-Encoding',
    ),
  ),
  bad(
    'chunked and Content-Length in HTTP/1.0',
    first('POST /v1/products HTTP/1.0', ['Content-Length: 5', JSON_TYPE, CHUNKED], LAST_CHUNK),
  ),
];

const chunkTricks: readonly FramingCase[] = [
  served('a chunk size in capitals', chunks(CHUNK.replace('f', 'F') + LAST_CHUNK), '201'),
  served('a chunk size with leading zeros', chunks(`0000${CHUNK}${LAST_CHUNK}`), '201'),
  served('a last chunk of several zeros', chunks(`${CHUNK}000\r\n\r\n`), '201'),
  served('a chunk extension', chunks(`f;a=1;b="c d;e\\""\r\n${BODY}\r\n0;last\r\n\r\n`), '201'),
  served('a trailer', chunks(`${CHUNK}0\r\nX-Trailer: 1\r\n\r\n`), '201'),
  served('chunks of one byte', chunks([...BODY].map((one) => `1\r\n${one}\r\n`).join('') + LAST_CHUNK), '201'),
  served(
    'a request in a chunk',
    chunks(`${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n${LAST_CHUNK}`),
    '400 malformed_json',
  ),
  served(
    'a request in an early chunk of an unknown path',
    first('POST /nowhere HTTP/1.1', [CHUNKED], `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n${LAST_CHUNK}`),
    '404 not_found',
  ),
  ...[
    '0xf',
    '+f',
    '-f',
    '-1',
    ' f',
    '\tf',
    'f ',
    'f\t',
    'f\x0b',
    'f,',
    'f_',
    'g',
    'f g',
    '',
    ';a',
    '"f"',
    'f\0',
    '\xef\xbc\x86',
    'FFFFFFFFFFFFFFFF1',
    '1000000000000000f',
    'f ;a',
    'f; a\0',
    'f;a\x01',
    'f;a="',
    'f;a\rb',
    'f;a\nb',
  ].map((size) => bad(`the chunk size ${JSON.stringify(size)}`, chunks(`${size}\r\n${BODY}\r\n${LAST_CHUNK}`))),
  bad('a chunk extension of 64 KiB', chunks(`f;a=${'x'.repeat(65_536)}\r\n${BODY}\r\n${LAST_CHUNK}`)),
  served(
    'chunk extensions of 64 KiB in many chunks',
    chunks(`1;${'x'.repeat(1_000)}\r\n \r\n`.repeat(66) + CHUNK + LAST_CHUNK),
    '201',
  ),
  bad('a bare line feed behind an extension of the last chunk', chunks('0;a=\n\r\n\r\n')),
  bad('an invalid size behind a valid chunk', chunks(`${CHUNK}0x0\r\n\r\n`)),
  bad('an invalid size of an unknown path', first('POST /nowhere HTTP/1.1', [CHUNKED], '0x0\r\n\r\n')),
  bad('a bare line feed behind the size', chunks(`f\n${BODY}\r\n${LAST_CHUNK}`)),
  bad('a bare carriage return behind the size', chunks(`f\r${BODY}\r\n${LAST_CHUNK}`)),
  bad('a bare line feed behind the chunk', chunks(`f\r\n${BODY}\n${LAST_CHUNK}`)),
  bad('no line end behind the chunk', chunks(`f\r\n${BODY}${LAST_CHUNK}`)),
  bad('two bytes instead of the line end', chunks(`f\r\n${BODY}xx${LAST_CHUNK}`)),
  bad('a chunk longer than its size', chunks(`e\r\n${BODY}\r\n${LAST_CHUNK}`)),
  bad('a chunk shorter than its size', chunks(`11\r\n${BODY}\r\n${LAST_CHUNK}`)),
  bad('a bare line feed behind the last chunk', chunks(`${CHUNK}0\n\n`)),
  bad('a bare line feed at the end of the trailers', chunks(`${CHUNK}0\r\n\n`)),
  bad('Content-Length as a trailer', chunks(`${CHUNK}0\r\nContent-Length: ${NEXT.length}\r\n\r\n`)),
  bad('Transfer-Encoding as a trailer', chunks(`${CHUNK}0\r\nTransfer-Encoding: chunked\r\n\r\n`)),
  served('Host as a trailer', chunks(`${CHUNK}0\r\nHost: evil\r\n\r\n`), '201'),
  served(
    'Authorization and X-Forwarded-Proto as trailers',
    first(
      'POST /v1/products HTTP/1.1',
      [JSON_TYPE, CHUNKED],
      `${CHUNK}0\r\nAuthorization: Bearer x\r\nX-Forwarded-Proto: http\r\n\r\n`,
    ),
    '201',
  ),
  bad('a folded trailer', chunks(`${CHUNK}0\r\nX: a\r\n b\r\n\r\n`)),
  bad('a trailer with a space in its name', chunks(`${CHUNK}0\r\nX Y: a\r\n\r\n`)),
  bad('a trailer without a colon', chunks(`${CHUNK}0\r\nGET / HTTP/1.1\r\n\r\n`)),
  closed(
    'trailers of 70 KiB',
    chunks(`${CHUNK}0\r\n${`X: ${'x'.repeat(1_000)}\r\n`.repeat(70)}\r\n`),
    '431 headers_too_large',
  ),
];

const lines: readonly FramingCase[] = [
  served('an empty line before the request', `\r\n${get()}`, '200'),
  served('several empty lines before the request', `\r\n\r\n\r\n${get()}`, '200'),
  bad('a space before the method', ` ${get()}`),
  bad('a tab before the method', `\t${get()}`),
  bad('NUL before the method', `\0${get()}`),
  bad('a byte order mark before the method', `\xef\xbb\xbf${get()}`),
  bad('a bare line feed behind the request line', get().replace('HTTP/1.1\r\n', 'HTTP/1.1\n')),
  bad('bare line feeds everywhere', get().replaceAll('\r\n', '\n')),
  bad('a bare line feed behind a header', get().replace('Host: x\r\n', 'Host: x\n')),
  bad('a bare line feed at the end of the headers', get().replace(/\r\n\r\n$/, '\r\n\n')),
  bad('two bare line feeds at the end of the headers', get().replace(/\r\n\r\n$/, '\n\n')),
  bad('bare carriage returns', get().replaceAll('\r\n', '\r')),
  bad('a bare line feed in a value', get('X: a\nContent-Length: 5')),
  bad('a bare carriage return in a value', get('X: a\rContent-Length: 5')),
  bad('two carriage returns at the end of a header', get('X: a\r')),
  bad('NUL in a value', get('X: a\0b')),
  bad('NUL in the target', getAt('/v1/products\0')),
  bad('NUL in the method', get().replace('GET', 'G\0T')),
  bad('a control character in a value', get('X: a\x01b')),
  bad('DEL in a value', get('X: a\x7fb')),
  served('a tab in a value', get('X: a\tb'), '200'),
  served('Latin-1 in a value', get('X: \xe9'), '200'),
  // RFC 9112 section 3 allows a recipient to read several spaces as one.
  served('two spaces behind the method', get().replace('GET ', 'GET  '), '200'),
  bad('a tab behind the method', get().replace('GET ', 'GET\t')),
  served('two spaces behind the target', get().replace(' HTTP/', '  HTTP/'), '200'),
  bad('a tab behind the target', get().replace(' HTTP/', '\tHTTP/')),
  bad('a space behind the version', get().replace('HTTP/1.1', 'HTTP/1.1 ')),
  bad('a word behind the version', get().replace('HTTP/1.1', 'HTTP/1.1 x')),
  bad('a folded request line', get().replace('HTTP/1.1\r\n', 'HTTP/1.1\r\n ')),
  bad('a folded header', get('X: a', ' b')),
  bad('a header folded by a tab', get('X: a', '\tb')),
];

const headers: readonly FramingCase[] = [
  ...[
    ...list`Bad Header  X@  X(  X"  X,  X/  X;  X[  X{  X?  X=  X<`,
    'X\\',
    'X\x80',
    'X\xe9',
    'X\0',
    '',
    'X ',
    'X\t',
    'X\x0b',
  ].map((name) => bad(`the header name ${JSON.stringify(name)}`, get(`${name}: y`))),
  bad('a header without a colon', get('X')),
  served('an empty header', get('X:'), '200'),
  served('every character that a name may have', get("X!#$%&'*+-.^_`|~0: y"), '200'),
  served('a header of 15,000 bytes', get(`X: ${'x'.repeat(15_000)}`), '200'),
  ...[16_500, 20_000, 60_000, 70_000, 200_000, 1_000_000].map((length) =>
    closed(`a header of ${length} bytes`, get(`X: ${'x'.repeat(length)}`), '431 headers_too_large'),
  ),
  closed('a name of 20,000 bytes', get(`${'x'.repeat(20_000)}: y`), '431 headers_too_large'),
  closed('a name of 200,000 bytes', get(`${'x'.repeat(200_000)}: y`), '431 headers_too_large'),
  closed('5,000 headers', get(...Array<string>(5_000).fill('A: b')), '431 headers_too_large'),
  ...[
    `Authorization: Bearer ${FIRST_KEY}`,
    'Content-Type: application/json',
    'Host: x',
    'If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT',
    'Origin: https://shop.example',
    'Range: bytes=0-1',
    'User-Agent: x',
  ].flatMap((field) => {
    const [name = ''] = field.split(':');
    const own = /^(?:Authorization|Host)/.test(name) ? [] : [field];
    const second = field.replace(name, name.toLowerCase());
    return [
      bad(`two equal ${name}`, get(...own, second), name),
      bad(`two different ${name}`, get(...own, `${second}x`), name),
    ];
  }),
  ...[
    ['Accept: text/html', 'Accept: application/json'],
    ['If-None-Match: "a"', 'If-None-Match: "b"'],
    ['Prefer: count=exact', 'Prefer: return=minimal'],
    ['Accept-Encoding: br', 'Accept-Encoding: gzip'],
    ['Via: 1.1 a', 'Via: 1.1 b'],
  ].map((two) => served(`two lines of a list: ${two}`, get(...two), '200')),
  bad('two Content-Type of a request with a body', post([JSON_TYPE, `Content-Length: ${SIZE}`], BODY), 'Content-Type'),
  bad('no Host', get().replace('Host: x\r\n', ''), 'Host'),
  bad('Host with a space before the colon', get().replace('Host: x', 'Host : x')),
  ...[
    '',
    ...list`localhost  LOCALHOST:8443  a.b-c.example.  under_score  a:  127.0.0.1:1  [::1]  %c3%bc`,
    '[2001:db8::1]:8443',
  ].map((host) => served(`the valid Host ${JSON.stringify(host)}`, get().replace('Host: x', `Host: ${host}`), '200')),
  ...[
    ...list`a, b  a b  a@b  a/b  a:80,b  http://a  a?b  a#b  a\b  a"b  <a>  a:x  a:1:2  [::1  ::1  []  %zz`,
    '\xe9',
    'b\xc3\xbccher.example',
  ].map((host) => bad(`Host ${JSON.stringify(host)}`, get().replace('Host: x', `Host: ${host}`), 'Host')),
  bad('Host "a, b" in HTTP/1.0', get().replace('Host: x', 'Host: a, b').replace('HTTP/1.1', 'HTTP/1.0'), 'Host'),
];

const targets: readonly FramingCase[] = [
  served('an absolute target', getAt(`http://x${LIST}`), '200'),
  served('an absolute target of https', getAt(`https://x:443${LIST}`), '200'),
  served('an absolute target in capitals', getAt(`HTTP://X${LIST}`), '200'),
  served('an absolute target of another host', getAt(`http://evil.example${LIST}`), '200'),
  served('an absolute target without a path', getAt('http://x'), '404 not_found'),
  served('an absolute target of another scheme', getAt(`ftp://x${LIST}`), '404 not_found'),
  ...list`http://[::1/  http://a[b]/  http://h:notaport/products`.map((target) =>
    served(`the target ${target}`, getAt(target), '200'),
  ),
  ...list`http://[::1/nowhere  http://h:notaport?x=1  ftp://x/products  *  *x`.map((target) =>
    served(`the target ${target}`, getAt(target), '404 not_found'),
  ),
  served('OPTIONS with the asterisk', first('OPTIONS * HTTP/1.1'), '404 not_found'),
  bad('an authority', getAt('x:443')),
  bad('a path without a slash', getAt('v1/products')),
  bad('a query alone', getAt('?limit=1')),
  bad('a backslash', getAt('\\v1\\products')),
  bad('a space in the path', getAt('/v1/products x')),
  closed('CONNECT', first('CONNECT x:443 HTTP/1.1'), '405 method_not_allowed'),
  closed(
    'CONNECT with a body and a request',
    first('CONNECT x:443 HTTP/1.1', ['Content-Length: 5'], `hello${HIDDEN}`),
    '405 method_not_allowed',
  ),
  closed('CONNECT with a path', first('CONNECT /v1/products HTTP/1.1'), '405 method_not_allowed'),
  served('two slashes', getAt('//v1/products'), '404 not_found'),
  served('two slashes and a host', getAt('//x/v1/products'), '404 not_found'),
  served('a fragment', getAt('/v1/products#x'), '404 not_found'),
  served('segments of dots', getAt('/v1/../v1/products'), '404 not_found'),
  served('an encoded line end', getAt('/v1/products%0d%0aX-Y:%20z'), '404 not_found'),
  served('an encoded NUL', getAt('/v1/products%00'), '404 not_found'),
  served('an encoded slash', getAt('/v1%2fproducts'), '404 not_found'),
  bad('bytes beyond ASCII in the path', getAt('/v1/products/\xc3\xa9')),
  served('a target of 8 KiB', getAt(`${LIST}&x=`.padEnd(8_192, 'x')), '400 unknown_parameter'),
  closed('a target of a byte more', getAt(`${LIST}&x=`.padEnd(8_193, 'x')), '414 uri_too_long'),
  closed('a target of 200,000 bytes', getAt(`/${'x'.repeat(200_000)}`), '431 headers_too_large'),
];

const methods: readonly FramingCase[] = [
  ...['get', 'Get', 'GETT', 'BREW', 'PRIX', 'X'.repeat(60)].map((name) =>
    closed(`the method ${name}`, get().replace('GET', name), '405 method_not_allowed', BAD),
  ),
  ...['TRACE', 'PROPFIND', 'PURGE', 'M-SEARCH', 'LOCK', 'SEARCH'].map((name) =>
    served(
      `the method ${name}`,
      get().replace('GET', name).replace('?limit=1&fields=id', ''),
      '405 method_not_allowed',
    ),
  ),
  ...['G@T', 'G(T', '', 'G\xe9T', 'GET,'].map((name) =>
    bad(`the method ${JSON.stringify(name)}`, get().replace('GET', name)),
  ),
  closed(
    'a method of 200,000 bytes',
    get().replace('GET', 'X'.repeat(200_000)),
    BAD,
    '405 method_not_allowed',
    '431 headers_too_large',
  ),
];

const versions: readonly FramingCase[] = [
  bad('a word', 'nonsense\r\n\r\n'),
  bad('HTTP/0.9', `GET ${LIST}\r\n`),
  bad('HTTP/0.9 with headers', get().replace(' HTTP/1.1', '')),
  closed('HTTP/1.0', first(`GET ${LIST} HTTP/1.0`), '200'),
  closed('HTTP/1.0 without Host', first(`GET ${LIST} HTTP/1.0`).replace('Host: x\r\n', ''), '200'),
  served('HTTP/1.0 with keep-alive', first(`GET ${LIST} HTTP/1.0`, ['Connection: keep-alive']), '200'),
  closed(
    'POST of HTTP/1.0 without a length',
    first('POST /v1/products HTTP/1.0', [JSON_TYPE], BODY),
    '400 malformed_json',
    BAD,
  ),
  closed('HTTP/1.1 with close', get('Connection: close'), '200'),
  closed('HTTP/1.1 with Close in a list', get('Connection: x, Close'), '200'),
  ...[...list`0.8  1.2  1.9  2.0  3.0  1.10  01.1  1  1,1  11  .1  1.  x.y  1.1x  +1.1  1. 1`, '1.1\x0b'].map(
    (version) => bad(`HTTP/${version}`, get().replace('HTTP/1.1', `HTTP/${version}`)),
  ),
  ...['http/1.1', 'HTTPS/1.1', 'HTTP /1.1', 'ICE/1.0', 'XTTP/1.1'].map((protocol) =>
    bad(`the protocol ${protocol}`, get().replace('HTTP/1.1', protocol)),
  ),
  // Node's parser reads RTSP as HTTP.
  closed('the protocol RTSP/1.0', get().replace('HTTP/1.1', 'RTSP/1.0'), '200'),
  bad('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0'),
];

const upgrades: readonly FramingCase[] = [
  ['h2c', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQ'],
  [
    'websocket',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ],
  ['TLS', 'Connection: upgrade', 'Upgrade: TLS/1.2'],
  ['nothing', 'Connection: keep-alive, Upgrade'],
  ['h2c, without Connection', 'Upgrade: h2c'],
].flatMap(([name, ...fields]) => [
  closed(`an upgrade to ${name}`, get(...fields), '200'),
  closed(`an upgrade to ${name} of a request with a body`, post([...fields, `Content-Length: ${SIZE}`], BODY), '201'),
  closed(`an upgrade to ${name} of a request with chunks`, chunks(CHUNK + LAST_CHUNK, fields), '201'),
]);

const expectations: readonly FramingCase[] = [
  served('100-continue', post([`Content-Length: ${SIZE}`, 'Expect: 100-continue'], BODY), '201'),
  served('100-Continue with chunks', chunks(CHUNK + LAST_CHUNK, ['Expect: 100-Continue']), '201'),
  closed(
    '100-continue of a body that is too large',
    post(['Content-Length: 2000000', 'Expect: 100-continue'], ''),
    '413 payload_too_large',
  ),
  closed('100-continue of GET', get('Expect: 100-continue'), '200'),
  closed(
    '100-continue for an unknown path',
    first('POST /nowhere HTTP/1.1', ['Content-Length: 5', 'Expect: 100-continue'], 'hello'),
    '404 not_found',
  ),
  closed('an unknown expectation', get('Expect: x'), '417 expectation_failed'),
  closed(
    'an unknown expectation of a request with a body',
    post([`Content-Length: ${SIZE}`, 'Expect: x'], BODY),
    '417 expectation_failed',
  ),
  closed(
    'two expectations',
    post([`Content-Length: ${SIZE}`, 'Expect: 100-continue, x'], BODY),
    '417 expectation_failed',
  ),
];

const large = 'x'.repeat(100_000);
const bodies: readonly FramingCase[] = [
  served('HEAD with a body', first(`HEAD ${LIST} HTTP/1.1`, [`Content-Length: ${HIDDEN.length}`], HIDDEN), '200'),
  served(
    'HEAD of an unknown path with chunks',
    first('HEAD /nowhere HTTP/1.1', [CHUNKED], `5\r\nhello\r\n${LAST_CHUNK}`),
    '404',
  ),
  served(
    'DELETE with a body',
    first('DELETE /v1/products/999999 HTTP/1.1', [`Content-Length: ${HIDDEN.length}`], HIDDEN),
    '404 not_found',
  ),
  served(
    'OPTIONS with a body',
    first('OPTIONS /v1/products HTTP/1.1', [`Content-Length: ${HIDDEN.length}`], HIDDEN),
    '204',
  ),
  served(
    'a 304 to a request with a body',
    first('GET /v1/products/1 HTTP/1.1', ['If-None-Match: *', `Content-Length: ${HIDDEN.length}`], HIDDEN),
    '304',
  ),
  served('a 201 without a body', post([`Content-Length: ${SIZE}`, 'Prefer: return=minimal'], BODY), '201'),
  served(
    'an unread body of an unknown path',
    first('POST /nowhere HTTP/1.1', [`Content-Length: ${large.length}`], large),
    '404 not_found',
  ),
  served(
    'an unread body of a wrong method',
    first('POST /v1/products/1 HTTP/1.1', [`Content-Length: ${HIDDEN.length}`], HIDDEN),
    '405 method_not_allowed',
  ),
  served(
    'an unread body of a wrong type',
    first('POST /v1/products HTTP/1.1', [`Content-Length: ${HIDDEN.length}`, 'Content-Type: text/plain'], HIDDEN),
    '415 unsupported_media_type',
  ),
  served(
    'an unread body without a token',
    first('POST /v1/products HTTP/1.1', [JSON_TYPE, `Content-Length: ${HIDDEN.length}`], HIDDEN).replace(
      /Authorization: .*\r\n/,
      '',
    ),
    '401 unauthenticated',
  ),
];

const third = message('third', `GET ${LIST} HTTP/1.1`);
const pipelines: readonly FramingCase[] = [
  served('three requests', get() + post([`Content-Length: ${SIZE}`], BODY) + third, ['200', '201', '200']),
  served('a refusal in the middle', get() + getAt('/nowhere') + third, ['200', '404 not_found', '200']),
  closed('a malformed request in the middle', `${get()}GET / HTTP/x\r\n\r\n${third}`, ['200'], ['200', BAD]),
  closed(
    'a malformed header in the middle',
    `${get()}GET / HTTP/1.1\r\nHost : x\r\n\r\n${third}`,
    ['200'],
    ['200', BAD],
  ),
  closed(
    'two lengths in the middle',
    get() + post(['Content-Length: 0', `Content-Length: ${SIZE}`], BODY) + third,
    ['200'],
    ['200', BAD],
  ),
  {
    ...bad('no Host in the middle', `${get()}GET / HTTP/1.1\r\nX-Forwarded-Proto: https\r\n\r\n${third}`, 'Host'),
    expected: [['200', BAD]],
  },
  { ...bad('two Host in the middle', get() + get('Host: y') + third, 'Host'), expected: [['200', BAD]] },
  closed('a malformed chunk in the middle', `${get()}${chunks(`${CHUNK}0x0\r\n\r\n`)}${third}`, ['200'], ['200', BAD]),
  closed(
    'CONNECT in the middle',
    `${get()}CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n${third}`,
    ['200'],
    ['200', '405 method_not_allowed'],
  ),
  closed('close in the middle', get() + get('Connection: close') + third, ['200', '200']),
  closed('an upgrade in the middle', get() + get('Upgrade: h2c') + third, ['200', '200']),
];

const cuts: readonly FramingCase[] = [
  cut('half a request line', 'GET /v1/pro', [], BAD),
  cut('half a header', 'GET /v1/products HTTP/1.1\r\nHos', [], BAD),
  cut('no end of the headers', get().slice(0, -2), [], BAD),
  cut('half a body', post([`Content-Length: ${SIZE}`], BODY.slice(0, 5)), [], BAD),
  cut('half a chunk', chunks(CHUNK.slice(0, 9)), [], BAD),
  cut('no last chunk', chunks(CHUNK), [], BAD),
  cut('half a last chunk', chunks(`${CHUNK}0\r\n`), [], BAD),
];

export const FRAMING_CASES: readonly FramingCase[] = [
  ...contentLengths,
  ...transferCodings,
  ...chunkTricks,
  ...lines,
  ...headers,
  ...targets,
  ...methods,
  ...versions,
  ...upgrades,
  ...expectations,
  ...bodies,
  ...pipelines,
  ...cuts,
];
