"""The programs that draw sets: patterns as in ``blender/scenery_materials.py``, light and sky."""

from mimegen.stage.raster.shaders import LIGHT

NOISE = """
float lattice(ivec3 at) {
    uint h = uint(at.x) * 374761393u + uint(at.y) * 668265263u + uint(at.z) * 2147483647u;
    h = (h ^ (h >> 13u)) * 1274126177u;
    return float((h ^ (h >> 16u)) & 0xffffu) / 65535.0;
}
float noise(vec3 p) {
    ivec3 c = ivec3(floor(p));
    vec3 w = fract(p);
    w = w * w * (3.0 - 2.0 * w);
    vec2 i = vec2(0.0, 1.0);
    float a = mix(mix(lattice(c), lattice(c + ivec3(1, 0, 0)), w.x),
                  mix(lattice(c + ivec3(0, 1, 0)), lattice(c + ivec3(1, 1, 0)), w.x), w.y);
    float b = mix(mix(lattice(c + ivec3(0, 0, 1)), lattice(c + ivec3(1, 0, 1)), w.x),
                  mix(lattice(c + ivec3(0, 1, 1)), lattice(c + ivec3(1, 1, 1)), w.x), w.y);
    return mix(a, b, w.z);
}
// Noise of several octaves; the spread is that of Blender's, which keeps near a half.
float fbm(vec3 p, int octaves) {
    float sum = 0.0, size = 1.0, all = 0.0;
    for (int i = 0; i < octaves; i++) {
        sum += size * noise(p + 31.7 * float(i)); all += size; size *= 0.5; p *= 2.0;
    }
    return 0.5 + 0.8 * (sum / all - 0.5);
}
"""

SET_VERTEX = """\
#version 330
uniform mat4 to_picture;
in vec3 place, normal, own, scattered;
in vec2 uv;
in float offshore;
out vec3 at, facing, inside, strewn;
out vec2 on;
out float away;
void main() {
    gl_Position = to_picture * vec4(place, 1.0);
    at = place; facing = normal; inside = own; strewn = scattered; on = uv; away = offshore;
}
"""

PATTERNS = """
uniform int pattern;
uniform vec3 color, second, joint;
uniform vec2 size;
uniform float gap;

vec3 brickwork(float offset, out float flat_part) {
    float row = floor(on.y / size.y);
    float shift = mod(row, 2.0) * offset;
    float column = floor(on.x / size.x + shift);
    vec2 within = vec2(fract(on.x / size.x + shift) * size.x, fract(on.y / size.y) * size.y);
    vec2 edge = min(within, size - within);
    float seam = gap * size.y / 2.0;
    vec2 half_pixel = 0.5 * fwidth(on) + 1e-5;
    vec2 covered = max(min(edge + half_pixel, seam) - max(edge - half_pixel, -seam), 0.0);
    vec2 apart = 1.0 - covered / (2.0 * half_pixel);
    flat_part = apart.x * apart.y;
    float tint = lattice(ivec3(int(column), int(row), 7));
    float grain = fbm(vec3(4.0 * on.x / size.x, 2.5 * on.y / size.y, 0.0), 3);
    vec3 face = mix(color, second, tint) * mix(0.9, 1.06, smoothstep(0.3, 0.7, grain));
    return mix(joint, face, flat_part);
}

vec3 sand(vec3 p) {
    float share = 0.6 * fbm(0.35 * p, 4) + 0.4 * fbm(60.0 * p, 3);
    return mix(second, color, smoothstep(0.36, 0.62, share));
}

vec3 shore(out float wetness) {
    float d = away + 1.6 * (fbm(0.45 * inside, 4) - 0.5);
    float share = 0.6 * fbm(0.35 * inside, 4) + 0.4 * fbm(60.0 * inside, 3);
    vec3 ground = mix(0.6 * color, color, smoothstep(0.36, 0.62, share));
    vec3 wet = mix(ground, 0.42 * color, smoothstep(-1.3, -0.15, d));
    vec3 depth = mix(min(2.6 * second, 1.0), second, smoothstep(0.0, 3.5, d));
    depth = mix(depth, 0.35 * second, smoothstep(4.0, 60.0, d));
    vec3 sea = mix(wet, depth, smoothstep(-0.12, 0.05, d));
    float foam = smoothstep(-0.2, 0.12, d) * (1.0 - smoothstep(0.35, 1.5, d));
    float crest = smoothstep(2.2, 2.5, d) * (1.0 - smoothstep(2.6, 3.3, d));
    float lace = smoothstep(0.42, 0.58, fbm(2.2 * inside, 4));
    wetness = smoothstep(-1.0, 0.0, d);
    return mix(sea, vec3(0.9, 0.93, 0.95), clamp((foam + crest) * lace, 0.0, 1.0));
}

vec3 painting() {
    vec3 p = strewn / vec3(size.x, size.x, size.y);
    float field = noise(2.2 * p), tone = 0.8 * field + fbm(5.0 * p, 5);
    vec3 mixed = mix(color, second, smoothstep(0.55, 1.15, tone));
    return noise(2.2 * p + 9.0) > 0.72 ? vec3(0.85, 0.78, 0.62) : mixed;
}

vec3 outdoors() {
    float level = inside.z / size.y + 0.9 * (fbm(2.2 / size.x * inside, 3) - 0.5);
    float leaves = smoothstep(0.35, 0.65, fbm(9.0 / size.x * inside, 3));
    vec3 tree = mix(second, min(2.2 * second, 1.0), leaves);
    return mix(tree, color, smoothstep(0.3, 0.6, level));
}

vec3 patterned(out float wetness) {
    float level;
    wetness = 0.0;
    switch (pattern) {
    case 1: return mix(color, second, smoothstep(0.35, 0.68,
                       fbm(strewn / vec3(size.x, size.y, size.y), 6)));
    case 2: return brickwork(0.37, level);
    case 3: return brickwork(0.0, level);
    case 4: return brickwork(0.5, level);
    case 5: return mix(second, color, smoothstep(0.12, 0.42,
                       fbm(260.0 / size.x * inside, 2) * fbm(2.5 / size.x * inside, 3)));
    case 6: return mix(color, second, smoothstep(0.38, 0.64, fbm(strewn / size.x, 6)));
    case 7: return sand(inside);
    case 8: return fract(on.x / size.x) > 0.5 ? second : color;
    case 9: return painting();
    case 10: return outdoors();
    case 11: return shore(wetness);
    case 12:
        vec2 cord = fract(on / size);
        if (cord.x >= gap && cord.y >= gap) discard;
        return color;
    default: return color;
    }
}
"""

SET_FRAGMENT = LIGHT + """
in vec3 at, facing, inside, strewn;
in vec2 on;
in float away;
uniform vec3 shine;
uniform float coat, glow, opacity, sheen;
uniform int lamps;
uniform vec3 lamp_at[64], lamp_way[64], lamp_power[64];
uniform float lamp_area[64];
uniform vec2 picture_size;
uniform sampler2D open_sky;
uniform vec3 indoors;
out vec4 result;
""" + NOISE + PATTERNS + """
vec3 from_lamps(vec3 normal) {
    vec3 sum = vec3(0.0);
    for (int i = 0; i < lamps; i++) {
        vec3 way = lamp_at[i] - at;
        float far = dot(way, way) + 0.3 * lamp_area[i];
        way = normalize(way);
        sum += lamp_power[i] * max(dot(normal, way), 0.0) * max(dot(lamp_way[i], -way), 0.0) / far;
    }
    return sum / PI;
}

void main() {
    vec3 normal = normalize(facing) * (gl_FrontFacing ? 1.0 : -1.0);
    float wetness;
    vec3 base = patterned(wetness);
    if (glow > 0.0) { result = vec4(glow * base, 1.0); return; }
    vec3 look = vec3(mix(shine.x, 0.12, wetness), shine.yz);
    float seen = texture(open_sky, gl_FragCoord.xy / picture_size).r;
    vec3 scattered, mirrored, ignored, varnish;
    lit(at, normal, base, look, seen, scattered, mirrored);
    vec3 bounced = (from_lamps(normal) / PI + indoors * seen) * (1.0 - look.z);
    vec3 light = base * (scattered + bounced) + mirrored;
    light += sheen * pow(1.0 - abs(dot(normal, normalize(eye - at))), 2.0) * (scattered + bounced);
    if (coat > 0.0) {
        lit(at, normal, vec3(0.0), vec3(0.12, 0.04, 0.0), seen, ignored, varnish);
        light += coat * varnish;
    }
    result = vec4(light, opacity);
}
"""

SKY_VERTEX = """\
#version 330
in vec2 corner;
in vec3 ray;
out vec3 way;
void main() { gl_Position = vec4(corner, 1.0, 1.0); way = ray; }
"""

SKY_FRAGMENT = """\
#version 330
in vec3 way;
uniform vec3 zenith, horizon, below;
uniform float clouds, strength;
out vec4 result;
""" + NOISE + """
void main() {
    vec3 to = normalize(way);
    vec3 above = mix(horizon, zenith, smoothstep(0.0, 0.45, to.z));
    float drift = fbm(1.6 * to * vec3(2.0, 2.0, 9.0), 7);
    above = mix(above, vec3(0.95, 0.96, 1.0), clouds * smoothstep(0.5, 0.72, drift));
    result = vec4(strength * (to.z < 0.0 ? below : above), 1.0);
}
"""
