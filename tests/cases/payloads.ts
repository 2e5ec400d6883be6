import { list } from '../support/list.js';

/** Texts that mean something to a program that takes data for code. Each is data here. */
export const PAYLOADS: readonly string[] = [
  // SQL.
  ...list`'  ''  "  ' OR '1'='1  ' OR 1=1--  '; DROP TABLE products; --  ') OR ('1'='1  1' AND SLEEP(5)--`,
  ...list`' UNION SELECT digest FROM api_keys--  x' AND 1=CONVERT(int,@@version)--  admin'--  '||'a  \' OR 1=1`,
  ...list`1 OR 1=1  1; SELECT 1  ?  :name  @p1  $1  ?1  NULL  null  x'3b'  /**/OR/**/1  #`,
  ...list`a' || randomblob(1e9) || '  ' AND load_extension('x')--  ';ATTACH DATABASE '/tmp/x' AS y--  [id]`,
  '-- ',
  '`id`',
  // LIKE, GLOB and regular expressions.
  ...list`%  _  %%  a%  _%  \%  *  ?*  [a-z]  [^a]  {a,b}  .*  ^.*$  ^  $  (a+)+$  (  )  [  ]  (?i)a  a|b  .  ..*`,
  ...list`\d+  (?=a)  (x+x+)+y  \u0041  [[:alpha:]]`,
  '\\',
  '\\\\',
  // Queries of MongoDB.
  ...list`$ne  $gt  $where  {"$ne":null}  {"$gt":""}  {$where:"sleep(1000)"}  [$ne]=1  $regex  {"$regex":".*"}`,
  ...list`$expr  $$ROOT  $name  $set  $unset  $function  this.a==1  {"$or":[{},{}]}  ObjectId("0")  a.$b  $.a  _id`,
  ...list`a.0  a.$  $[]  $inc  {"$jsonSchema":{}}  $natural  {"$date":0}  {"$numberLong":"1"}`,
  // Full-text queries of SQLite.
  ...list`a OR b  a AND b  a NOT b  NOT a  a NEAR b  NEAR(a b, 5)  name:a  name : a  {name sku}:a  - name:a  a*`,
  ...list`^a  "a b"  "a  a"  ""  a + b  OR  AND  NOT  NEAR  (a)  (a OR  rowid:1  rank  words MATCH a  -a`,
  // Programs, templates and directories.
  ...list`; cat /etc/passwd  | id  & id  && id  $(id)  >/tmp/x  <(id)  $PATH  %PATH%  {{7*7}}  <%= 7*7 %>  #{7*7}`,
  ...list`@(7*7)  {{constructor.constructor("x")()}}  {% x %}  *)(uid=*  *)(|(uid=*))  cn=x,dc=y  !(a)  &(a)(b)`,
  ...list`/*[1]  ' or '1'='1' or ''='  //user  count(/*)  <!ENTITY x SYSTEM "file:///etc/passwd">  <![CDATA[x]]>`,
  ...list`<?xml version="1.0"?>  &lt;  &xxe;  !!js/function x  !!python/object:x`,
  '`id`x',
  '\u0024{PATH}',
  '\u0024{7*7}',
  '\u0024{jndi:ldap://x/a}',
  // Paths.
  ...list`../  ../../etc/passwd  ..\..\x  /etc/passwd  //x  C:\x  file:///etc/passwd  %2e%2e%2f  ..%2f  %252e%252e`,
  ...list`....//  ..  ~root  con  nul  a/b  a/../b  .htaccess  .git/config  x;.json  x%00.json  %c0%ae  /`,
  ...list`\\host\share  imports  1/imports`,
  // Prototypes and JSON pointers.
  ...list`constructor  prototype  toString  hasOwnProperty  valueOf  __defineGetter__  __lookupSetter__`,
  ...list`constructor.prototype  length  /constructor/prototype/x  /__proto__/x  ~0  ~1  /~0~1  /-  /0  #/name`,
  // Spreadsheets.
  ...list`=1+1  =cmd|'/c calc'!A0  +1  -1  @SUM(A1)  =HYPERLINK("http://x")  =IMPORTXML("x","y")  |x  "=1+1"`,
  ...list`'=1+1  ,  ;  ","`,
  '"\u2028"',
  // Pages.
  ...list`<script>alert(1)</script>  "><img src=x onerror=alert(1)>  ';alert(1)//  javascript:alert(1)  </script>`,
  ...list`<svg/onload=x>  &#60;  <!--  <b>`,
  // Headers, logs and terminals.
  ...list`a%0d%0aSet-Cookie: x=1  \r\n  a\nb  x: y  Bearer x  ","level":"error  {"msg":"x"}  %s%s%n  %x`,
  '\u009b31m',
  '\u202e',
  '\u2028',
  '\u0085x',
  // Numbers, lists and names that programs give a meaning.
  ...list`0  1  -0  1e3  0x1  01  NaN  Infinity  true  false  undefined  []  {}  [object Object]  None  nil  id`,
  ...list`name  name,id  name:ne  .ne  id.gt  attributes  attributes.x  cursor  eyJ4IjoxfQ  é  ı  😀`,
  'e\u0301',
  '\u212a',
  '\ufeffx',
  '\ufffd',
  '\udbff\udfff',
];

/** The same, with characters that no field of one line accepts. */
export const CONTROL_PAYLOADS: readonly string[] = [
  ...['\0', 'a\0b', "'\0 OR 1=1", '\u0000$ne', '\u0001', '\b', '\u007f', '\u001b[31mred', '\u001b]0;x\u0007'],
  ...['a\nb', 'a\rb', 'a\tb', 'a\r\nSet-Cookie: x=1', '\r\n\r\nHTTP/1.1 200 OK'],
  '\n{"level":"error","msg":"forged"}',
];

/** Names that no request declares: those of the stores, of other resources, and of every object. */
export const UNDECLARED: readonly string[] = [
  ...list`digest  hash  key  lastUsedAt  createdBy  createdBySubject  expiresAt  scopes  principal  isAdmin  role`,
  ...list`owner  userId  _id  _v  __v  rowid  deleted  deletedAt  tombstone  words  rules  block  fields  data`,
  ...list`body  response  fingerprint  reservation  price_amount  price_currency  created_at  updated_at`,
  ...list`email_folded  attributesText  search  total  status  constructor  prototype  toString  valueOf`,
  ...list`then  hasOwnProperty  __defineGetter__  $set  $where  $comment  a.b  price.amount  attributes.x  toJSON`,
];
