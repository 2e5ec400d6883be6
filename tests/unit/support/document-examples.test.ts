import { expect } from 'chai';
import { examplesIn } from '../../support/document-examples.js';
import { OpenText } from '../../support/open-text.js';

const fenced = (info: string, ...lines: string[]) => [`\`\`\`${info}`, ...lines, '```'].join('\n');
const REQUEST = fenced('http', 'GET /v1/products HTTP/1.1');
const RESPONSE = fenced('http', 'HTTP/1.1 200 OK', '', '[]');

describe('examplesIn', () => {
  it('returns pairs of a request and its response', () => {
    const post = fenced(
      'http 3 times',
      'POST /v1/products HTTP/1.1',
      'Content-Type: application/json',
      '',
      '{"name":',
      '',
      '"x"}',
    );
    const created = fenced('http', 'HTTP/1.1 201 Created', 'Link: </a>; rel="a"', 'Link: </b>; rel="b"');
    expect(examplesIn(`# Products\n\n${REQUEST}\n\nreturns\n\n${RESPONSE}\n${post}\n${created}\n`)).to.deep.equal([
      {
        line: 3,
        method: 'GET',
        path: '/v1/products',
        headers: {},
        body: undefined,
        times: 1,
        response: { status: 200, headers: {}, body: '[]' },
      },
      {
        line: 14,
        method: 'POST',
        path: '/v1/products',
        headers: { 'Content-Type': 'application/json' },
        body: '{"name":\n\n"x"}',
        times: 3,
        response: { status: 201, headers: { Link: '</a>; rel="a", </b>; rel="b"' }, body: '' },
      },
    ]);
  });

  for (const [name, markdown] of Object.entries({
    'a request without a response': REQUEST,
    'two requests in a row': `${REQUEST}\n${REQUEST}\n${RESPONSE}`,
    'a response without a request': `${RESPONSE}\n${REQUEST}`,
    'a block of another language': `${REQUEST}\n${RESPONSE}\n${fenced('sh', 'curl')}`,
    'a block without a language': `${REQUEST}\n${RESPONSE}\n${fenced('', 'curl')}`,
    'a block without an end': `${REQUEST}\n${RESPONSE.slice(0, -3)}`,
    'an indented block': `${REQUEST}\n${RESPONSE}\n  \`\`\`http\n  GET / HTTP/1.1\n  \`\`\``,
    'a block that is only indented': `${REQUEST}\n${RESPONSE}\n\n    GET / HTTP/1.1\n`,
    'an unknown method': `${fenced('http', 'BREW / HTTP/1.1')}\n${RESPONSE}`,
    'a line that is not a header': `${fenced('http', 'GET / HTTP/1.1', 'Accept')}\n${RESPONSE}`,
    'a body without a type': `${fenced('http', 'POST / HTTP/1.1', '', '{}')}\n${RESPONSE}`,
    'a status with the name of another': `${REQUEST}\n${fenced('http', 'HTTP/1.1 200 Created')}`,
    'a response several times': `${REQUEST}\n${fenced('http 2 times', 'HTTP/1.1 200 OK')}`,
  }))
    it(`rejects ${name}`, () => {
      expect(() => examplesIn(markdown)).to.throw(/^line \d+: /);
    });
});

describe('OpenText', () => {
  it('fills an ellipsis from the response if the rest of the text matches', () => {
    const open = new OpenText({ KEY: 'k.1' });
    expect(open.closed('a … z', 'a b z')).to.equal('a b z');
    expect(open.closed('a … z', 'a b')).to.equal('a … z');
    expect(open.closed('…', '')).to.equal('…');
    expect(open.closed('…', 7)).to.equal('…');
    expect(open.closed('a.z', 'abz')).to.equal('a.z');
    expect(open.closed({ at: '…', in: ['…', 1] }, { at: 'x', in: ['y', 2], more: 1 })).to.deep.equal({
      at: 'x',
      in: ['y', 1],
    });
    expect(open.closed({ at: ['…'] }, null)).to.deep.equal({ at: ['…'] });
  });

  it('keeps the value of a variable for its next uses', () => {
    const open = new OpenText({ KEY: 'k.1' });
    expect(open.filled('Bearer $KEY')).to.equal('Bearer k.1');
    expect(open.closed('$KEY', 'kx1')).to.equal('$KEY');
    expect(() => open.filled('$NEXT')).to.throw('$NEXT');
    expect(open.closed('</a?cursor=$NEXT>; rel="next"', '</a?cursor=c.2>; rel="next"')).to.include('c.2');
    expect(open.filled('/a?cursor=$NEXT')).to.equal('/a?cursor=c.2');
    expect(open.closed('$NEXT', 'another')).to.equal('$NEXT');
  });
});
