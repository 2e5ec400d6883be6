import type { ApiRequest } from './request.js';

/** The certificate authority of a service with its own certificate, from the folder in which the service runs. */
export const CA_FILE = 'data/tls/ca.pem';

/** @param usesOwnCa whether the program must trust {@link CA_FILE} */
export type CodeSample = (request: ApiRequest, usesOwnCa: boolean) => string;

/**
 * Complete programs for a request, by the name of their language. They take the key from the environment variable
 * API_KEY: other programs read the clipboard, and a shell keeps a history.
 */
export const CODE_SAMPLES: Readonly<Record<string, CodeSample>> = {
  curl: curlSample,
  JavaScript: javascriptSample,
  Python: pythonSample,
  Go: goSample,
};

function curlSample({ method, url, headers, body, takesKey }: ApiRequest, usesOwnCa: boolean): string {
  const usual = body === undefined ? 'GET' : 'POST';
  const parts = [
    `curl --include --write-out '\\n'`,
    ...(usesOwnCa ? [`--cacert ${CA_FILE}`] : []),
    method === 'HEAD' ? '--head' : method === usual ? '' : `--request ${method}`,
    ...(takesKey ? ['--header "Authorization: Bearer $API_KEY"'] : []),
    ...headers.map(([name, value]) => `--header ${shellQuoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${shellQuoted(body)}`]),
    shellQuoted(url),
  ];
  return parts.filter((part) => part !== '').join(' \\\n  ');
}

function javascriptSample({ method, url, headers, body, takesKey }: ApiRequest, usesOwnCa: boolean): string {
  const fields = [
    ...(takesKey ? [['Authorization', '"Bearer " + process.env.API_KEY']] : []),
    ...headers.map(([name, value]) => [name, quoted(value)]),
  ].map(([name = '', value]) => `    ${quoted(name)}: ${value},\n`);
  return `// Save as request.mjs. Run: ${usesOwnCa ? `NODE_EXTRA_CA_CERTS=${CA_FILE} ` : ''}node request.mjs
const response = await fetch(${quoted(url)}, {
  method: ${quoted(method)},
  headers: {
${fields.join('')}  },
${body === undefined ? '' : `  body: ${templateQuoted(body)},\n`}});
console.log(response.status, response.statusText);
console.log(await response.text());
`;
}

function pythonSample({ method, url, headers, body, takesKey }: ApiRequest, usesOwnCa: boolean): string {
  const fields = [
    ...(takesKey ? [['Authorization', '"Bearer " + os.environ["API_KEY"]']] : []),
    ...headers.map(([name, value]) => [name, quoted(value)]),
  ].map(([name = '', value]) => `        ${quoted(name)}: ${value},\n`);
  return `${takesKey ? 'import os\n' : ''}import ssl
import urllib.error
import urllib.request

request = urllib.request.Request(
    ${quoted(url)},
    method=${quoted(method)},
    headers={
${fields.join('')}    },
${body === undefined ? '' : `    data=${tripleQuoted(body)}.encode(),\n`})
context = ssl.create_default_context(${usesOwnCa ? `cafile="${CA_FILE}"` : ''})
try:
    response = urllib.request.urlopen(request, context=context)
except urllib.error.HTTPError as error:
    response = error
with response:
    print(response.status, response.reason)
    print(response.read().decode())
`;
}

function goSample({ method, url, headers, body, takesKey }: ApiRequest, usesOwnCa: boolean): string {
  const packages = [
    ...(usesOwnCa ? ['crypto/tls', 'crypto/x509'] : []),
    ...['fmt', 'io', 'log', 'net/http'],
    ...(usesOwnCa || takesKey ? ['os'] : []),
    ...(body === undefined ? [] : ['strings']),
  ];
  const fields = [
    ...(takesKey ? [['Authorization', '"Bearer "+os.Getenv("API_KEY")']] : []),
    ...headers.map(([name, value]) => [name, quoted(value)]),
  ].map(([name = '', value]) => `\trequest.Header.Set(${quoted(name)}, ${value})\n`);
  const reader = body === undefined ? 'nil' : `strings.NewReader(${rawQuoted(body)})`;
  return `package main

import (
${packages.map((name) => `\t"${name}"\n`).join('')})

func main() {
${usesOwnCa ? GO_CLIENT : ''}	request, err := http.NewRequest(${quoted(method)}, ${quoted(url)}, ${reader})
	if err != nil {
		log.Fatal(err)
	}
${fields.join('')}	response, err := ${usesOwnCa ? 'client' : 'http.DefaultClient'}.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.Status)
	fmt.Println(string(body))
}
`;
}

const GO_CLIENT = `	authority, err := os.ReadFile("${CA_FILE}")
	if err != nil {
		log.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}

`;

/** Quotes a text for a POSIX shell, in which no character within single quotation marks has a special meaning. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Characters that compilers reject or change, or that make a text look different from what it is: controls, separators
 * of lines, marks of direction and byte order.
 */
const UNSAFE = /[\0-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** A string literal that JavaScript, Python and Go read alike. */
function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(UNSAFE, unicodeEscape);
}

/** The escape sequence that JSON, JavaScript, Python, Go and YAML have in common. */
export function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Whether a literal with line breaks is easier to read and keeps every character. */
function hasPlainLines(text: string): boolean {
  return text.includes('\n') && !text.replaceAll(/[\n\t]/g, '').match(UNSAFE);
}

function templateQuoted(text: string): string {
  return hasPlainLines(text) ? `\`${text.replaceAll(/[\\`]|\$\{/g, '\\$&')}\`` : quoted(text);
}

function tripleQuoted(text: string): string {
  return hasPlainLines(text) ? `'''${text.replaceAll(/[\\']/g, '\\$&')}'''` : quoted(text);
}

function rawQuoted(text: string): string {
  return hasPlainLines(text) && !text.includes('`') ? `\`${text}\`` : quoted(text);
}
